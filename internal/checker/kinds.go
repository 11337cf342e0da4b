package checker

// Severity says whether a program with the defect is wrong on every device that the manual allows.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning" // wrong by the letter, and harmless where a device does what all do
)

// kind is what is known of all defects of one kind.
type kind struct {
	check    Checks
	severity Severity
	title    string // of what has gone wrong, for people
	about    string // the same in a sentence
}

// The kinds of defects, as reports and suppressions name them.
const (
	OutOfBounds     = "out-of-bounds"
	UseAfterFree    = "use-after-free"
	Null            = "null"
	Misaligned      = "misaligned"
	NoAccess        = "no-access"
	StackOverflow   = "stack-overflow"
	DoubleFree      = "double-free"
	InvalidFree     = "invalid-free"
	CallBounds      = "call-out-of-bounds"
	GoneBlock       = "exited-block"
	Leaked          = "leak"
	Races           = "race"
	EqualRace       = "race-equal"
	Uninitialised   = "uninitialised"
	Divergent       = "divergent-barrier"
	Exited          = "exited-threads"
	InvalidArgument = "invalid-barrier"
	InvalidMask     = "invalid-mask"
	ArriveTwice     = "arrive-twice"
	MbarrierInvalid = "invalid-mbarrier"
	Deadlock        = "deadlock"
)

var kinds = map[string]kind{
	OutOfBounds: {Memory, Error, "out of bounds",
		"A kernel accesses memory before, between or past allocations and variables."},
	UseAfterFree: {Memory, Error, "use after free",
		"A kernel or a call accesses memory that was freed."},
	Null: {Memory, Error, "NULL",
		"A kernel accesses an address at or just above 0."},
	Misaligned: {Memory, Error, "misaligned",
		"A kernel accesses an address that is no multiple of the access's size."},
	NoAccess: {Memory, Error, "no access",
		"A kernel accesses memory that its device may not access."},
	StackOverflow: {Memory, Error, "stack overflow",
		"Calls in a kernel need more local memory than a thread has."},
	DoubleFree: {Memory, Error, "double free",
		"Memory is freed that was freed before."},
	InvalidFree: {Memory, Error, "free of what is no allocation",
		"An address is freed at which no allocation begins."},
	CallBounds: {Memory, Error, "call on memory out of bounds",
		"A copy or fill touches bytes that are not all of one allocation."},
	GoneBlock: {Memory, Error, "shared memory of a block that does not run",
		"A kernel accesses shared memory of a block of its cluster that may have ended."},
	Leaked: {Leak, Error, "leak",
		"Memory is still allocated when its context, or the process, ends."},
	Races: {Race, Error, "race",
		"Two accesses to the same bytes, one of them a write, are ordered by nothing."},
	EqualRace: {Race, Warning, "race of writes of equal values",
		"Several threads write equal values to the same bytes, and nothing orders them."},
	Uninitialised: {Init, Error, "use of memory that nobody wrote",
		"What happens or what is computed depends on memory or a register that nobody wrote."},
	Divergent: {Sync, Error, "barrier in diverged code",
		"Threads come to a barrier for all of them in different places, or not at all."},
	Exited: {Sync, Error, "barrier that exited threads do not reach",
		"A barrier waits for threads that have exited."},
	InvalidArgument: {Sync, Error, "invalid arguments of a barrier",
		"A barrier has a number or a count of threads that it cannot have."},
	InvalidMask: {Sync, Error, "invalid member mask",
		"A member mask does not name the lanes that execute the operation."},
	ArriveTwice: {Sync, Error, "arrival without a wait between",
		"Threads arrive at the cluster's barrier twice without a wait between."},
	MbarrierInvalid: {Sync, Error, "invalid use of an mbarrier",
		"An mbarrier is used before it is initialised, after it is invalidated, or with counts that it cannot have."},
	Deadlock: {Sync, Error, "deadlock",
		"No thread of a block or cluster can go on."},
}

// KindTitle says in words what a kind is, "" for an unknown one.
func KindTitle(name string) string { return kinds[name].title }

// KindAbout says in a sentence what a kind is, "" for an unknown one.
func KindAbout(name string) string { return kinds[name].about }

// KindCheck is the check that looks for a kind, 0 for an unknown one.
func KindCheck(name string) Checks { return kinds[name].check }
