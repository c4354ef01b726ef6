package fusebridge

// Health says whether a mount answers.
type Health string

// The values of Health.
const (
	Healthy Health = "ok"
	Away    Health = "away" // its store does not answer, and the last known state is shown
	Dead    Health = "dead" // its server is gone; Unmount or the next mount there mends it
	Hung    Health = "hung" // its server does not answer
)

// Mounted is one mount of this package on this machine.
type Mounted struct {
	Dir      string // where, absolute
	Name     string // of the store, see Options.Name
	ReadOnly bool
	PID      int // of the server, 0 when it cannot be known
	UID      int // of the user who mounted it, -1 when it cannot be known
	Health   Health
}

// Support says what this machine offers for mounting.
type Support struct {
	Kernel     string // release of the kernel
	Device     string // "ok", or why /dev/fuse cannot be used
	Fusermount string // path of fusermount3, "" when there is none
	Direct     bool   // the process may mount without fusermount3
	AllowOther bool   // Options.AllowOther would be accepted
	Err        error  // why Mount would fail, one sentence; nil when it would not
}
