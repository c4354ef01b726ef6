package agentsim

import "time"

// Status is how one scenario went.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"  // it did not run as it says
	Differs Status = "differs" // it ran, and its golden says otherwise or is missing
	Updated Status = "updated" // its golden was written
	Removed Status = "removed" // a golden without a scenario was removed
	Skipped Status = "skipped" // it cannot be replayed here, which fails nothing
)

// Result is one scenario that was replayed.
type Result struct {
	Location    Location
	Description string
	Status      Status
	Step        string      // where it failed or differs, if that is known
	Line        int         // of the scenario's file, where that step is; 0 where that is not known
	Err         error       // of Failed and Skipped, and of Differs when there is no golden to compare with
	Difference  *Difference // of Differs
	Steps       []string    // what was shown, by name
	Transcript  *Transcript // what was shown; nil when it was not replayed
	Duration    time.Duration
}

// Summary counts results by status.
type Summary struct {
	Total, Passed, Failed, Differs, Updated, Removed, Skipped int
	Left                                                      int // not replayed, because FailFast ended the run
	Duration                                                  time.Duration
}

// OK reports whether nothing failed, differs or was changed: whether a command
// ends with status 0.
func (s Summary) OK() bool { return s.Passed+s.Skipped == s.Total }

// String is the summary in one line.
func (s Summary) String() string { return s.totals().String() }

func (s *Summary) count(res Result) {
	s.Total++
	switch res.Status {
	case Passed:
		s.Passed++
	case Failed:
		s.Failed++
	case Differs:
		s.Differs++
	case Updated:
		s.Updated++
	case Removed:
		s.Removed++
	case Skipped:
		s.Skipped++
	}
}
