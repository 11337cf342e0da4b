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
	OutOfBounds:     {Memory, Error, "out of bounds"},
	UseAfterFree:    {Memory, Error, "use after free"},
	Null:            {Memory, Error, "NULL"},
	Misaligned:      {Memory, Error, "misaligned"},
	NoAccess:        {Memory, Error, "no access"},
	StackOverflow:   {Memory, Error, "stack overflow"},
	DoubleFree:      {Memory, Error, "double free"},
	InvalidFree:     {Memory, Error, "free of what is no allocation"},
	CallBounds:      {Memory, Error, "call on memory out of bounds"},
	GoneBlock:       {Memory, Error, "shared memory of a block that does not run"},
	Leaked:          {Leak, Error, "leak"},
	Races:           {Race, Error, "race"},
	EqualRace:       {Race, Warning, "race of writes of equal values"},
	Uninitialised:   {Init, Error, "use of memory that nobody wrote"},
	Divergent:       {Sync, Error, "barrier in diverged code"},
	Exited:          {Sync, Error, "barrier that exited threads do not reach"},
	InvalidArgument: {Sync, Error, "invalid arguments of a barrier"},
	InvalidMask:     {Sync, Error, "invalid member mask"},
	ArriveTwice:     {Sync, Error, "arrival without a wait between"},
	MbarrierInvalid: {Sync, Error, "invalid use of an mbarrier"},
	Deadlock:        {Sync, Error, "deadlock"},
}

// KindTitle says in words what a kind is, "" for an unknown one.
func KindTitle(name string) string { return kinds[name].title }

// KindCheck is the check that looks for a kind, 0 for an unknown one.
func KindCheck(name string) Checks { return kinds[name].check }
