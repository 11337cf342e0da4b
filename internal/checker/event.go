package checker

// Scope is the set of threads that a strong operation or a fence is for.
type Scope uint8

// The scopes.
const (
	ScopeBlock Scope = iota + 1
	ScopeCluster
	ScopeDevice
	ScopeSystem
)

var scopeWords = [...]string{"", ".cta", ".cluster", ".gpu", ".sys"}

func (s Scope) String() string { return scopeWords[s] }

// Does is what an access does.
type Does uint8

// The kinds of accesses.
const (
	Reads Does = 1 << iota
	Writes
)

// Op is a memory operation as one line of a program describes it.
type Op struct {
	Site    uint32 // its place in the program, for Program.Place
	ID      uint32 // its number among the program's, as small as can be
	Does    Does
	Scope   Scope // of a strong operation, 0 for a weak one
	Acquire bool
	Release bool
	Stale   bool // ld.global.nc: is not coherent with writes of the same grid
	Swap    bool // what is written depends on what is read, or replaces it: how locks are taken
	Barrier bool // on an mbarrier object: strong towards others of the kind, whatever the scope
	Size    uint32
	Count   uint32 // elements one behind the other
	Space   string // global or shared

	// Same identifies what a write writes where that is the same for all threads of a launch, whatever its data; 0
	// where it is not known to be. Fixed says that it is a constant, which other launches may write, too.
	Same  uint64
	Fixed bool
}

// raceKind is the kind of a race of two operations: that of plain writes of equal values is one of its own. Both then
// write the same bytes, since they are of one size and at a multiple of it.
func raceKind(a, b *Op, oneLaunch bool) string {
	if a.Does == Writes && b.Does == Writes && a.Same != 0 && a.Same == b.Same && a.Size == b.Size &&
		a.Count == b.Count && a.Scope == 0 && b.Scope == 0 && (oneLaunch || a.Fixed && b.Fixed) {
		return EqualRace
	}
	return Races
}

// event is an operation that lanes of a warp, or actors that work for them, made in one epoch.
type event struct {
	b     *origin
	op    *Op
	epoch uint64
	warp  int32  // thread/32
	actor uint32 // of lane 0
	async bool   // through the async proxy
	early bool   // before the launch has waited for the one that it overlaps with
}

// self says whether lanes' accesses stand in program order with those of the same lanes: they do unless they are
// asynchronous.
func (e *event) self() bool { return e.actor < actorCopy }

// includes says whether the scope of an operation of block a includes the threads of block b.
func (s Scope) includes(a, b *origin) bool {
	switch s {
	case ScopeBlock:
		return a == b
	case ScopeCluster:
		return a.l == b.l && a.cluster == b.cluster
	}
	return s != 0
}
