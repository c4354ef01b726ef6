package gramindex

// state is what an index is at a moment. These are all the ways from one to
// another:
//
//	state      event      becomes    meaning
//	unopened   opened     ready      what was kept can be used
//	unopened   lost       empty      there is nothing, or it is damaged
//	unopened   began      building   it is made whatever is kept
//	empty      began      building   changes are noted from now on
//	building   made       ready      it knows all files but a few that changed
//	building   lost       empty      it could not be made
//	building   began      building   it is made once more
//	ready      behind     building   too many files changed for it to be of use
//	ready      began      building   it is made anew
//	ready      lost       empty      it is damaged
//	any        ended      closed
type state int

const (
	unopened state = iota // nobody has searched yet, and an index may be kept
	empty                 // there is none; changes are not noted
	building              // one is being made; the store is listed meanwhile
	ready                 // it answers
	closed
)

type event int

const (
	opened event = iota
	began
	made
	behind
	lost
	ended
)

var becomes = map[state]map[event]state{
	unopened: {opened: ready, lost: empty, began: building, ended: closed},
	empty:    {began: building, ended: closed},
	building: {began: building, made: ready, lost: empty, ended: closed},
	ready:    {began: building, behind: building, lost: empty, ended: closed},
	closed:   {ended: closed},
}

// notes reports whether changes are noted in a state.
func (s state) notes() bool { return s == building || s == ready }

func (s state) String() string {
	return [...]string{"unopened", "none", "building", "ready", "closed"}[s]
}
