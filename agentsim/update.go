package agentsim

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/goliathfs/goliathfs/agentsim/internal/golden"
	"github.com/goliathfs/goliathfs/agentsim/internal/library"
)

// ErrUpdateInCI is returned by Run when Update or Review meets CI.
var ErrUpdateInCI = errors.New("goldens are not changed in continuous integration: do it on a desk and commit what changed")

// InCI reports whether a program runs in continuous integration, by the variables
// that the usual services set. CI itself decides where it is a boolean, so that
// CI=false says otherwise anywhere. getenv is os.Getenv or like it.
func InCI(getenv func(name string) string) bool {
	if value := getenv("CI"); value != "" {
		on, err := strconv.ParseBool(value)
		return on || err != nil // some services set it to their name
	}
	for _, name := range []string{
		"GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "CIRCLECI", "TRAVIS", "APPVEYOR", "DRONE", "SEMAPHORE", "CIRRUS_CI",
		"TF_BUILD", "TEAMCITY_VERSION", "JENKINS_URL", "HUDSON_URL", "BITBUCKET_BUILD_NUMBER", "CODEBUILD_BUILD_ID",
		"bamboo_buildKey", "GO_PIPELINE_NAME", "CI_NAME", "CONTINUOUS_INTEGRATION",
	} {
		if value := getenv(name); value != "" && value != "false" && value != "0" {
			return true
		}
	}
	return false
}

// GoldenChange is a golden that would be written, for whoever reviews it.
type GoldenChange struct {
	Location    Location
	Description string // of the scenario
	// Text is for people: the whole difference, as Difference.Text shows the first.
	Text string
	// New tells that there is no golden yet.
	New bool
}

// ErrReviewEnded ends a review: what was not reviewed stays as it is.
var ErrReviewEnded = errors.New("the review was ended")

// review has a difference taken or left.
func (r *Runner) review(ctx context.Context, res *Result) error {
	if r.Review == nil || res.Status != Differs || res.Transcript == nil {
		return nil
	}
	got := res.Transcript.Golden()
	want, err := library.ReadGolden(res.Location.Golden)
	take, err := r.Review(ctx, GoldenChange{
		Location: res.Location, Description: res.Description, Text: golden.Changes(want, got), New: err != nil,
	})
	if err != nil || !take {
		return err
	}
	res.write(got)
	return nil
}

// update writes the golden of a scenario that ran as it says, if it says something else
// or is missing. It may note other versions of the programs: one that holds is not
// written again for that, since it would change from machine to machine.
func (res *Result) update() {
	if res.Status == Differs {
		res.write(res.Transcript.Golden())
	}
}

// write writes the golden of a result that differs, which it does no more then.
func (res *Result) write(golden []byte) {
	res.Status, res.Err, res.Difference, res.Step, res.Line = Updated, nil, nil, "", 0
	if _, err := library.WriteGolden(res.Location.Golden, golden); err != nil {
		res.Status, res.Err = Failed, err
	}
}

// Orphans returns the goldens, of the directories among Paths, that no scenario
// has: it was renamed or removed, and what it held is held no more. With Match or
// Only, which leave scenarios out on purpose, there are none.
func (r *Runner) Orphans() ([]Location, error) {
	if r.Match != nil || r.Only != nil {
		return nil, nil
	}
	found, err := library.Find(r.Golden, r.paths()...)
	if err != nil {
		return nil, err
	}
	orphans, err := library.Orphans(found, r.Golden, r.paths()...)
	return locations(orphans), err
}

// orphaned is the result for a golden without a scenario. An update leaves it,
// unless it is asked for: it may be the trace of a scenario that was lost.
func (r *Runner) orphaned(l Location) Result {
	res := Result{Location: l, Status: Differs, Err: fmt.Errorf("the golden %s has no scenario, remove it or bring back %s", l.Golden, l.Path)}
	if r.Update && r.Unreferenced {
		res.Status, res.Err = Removed, nil
		if err := library.RemoveGolden(library.Location(l)); err != nil {
			res.Status, res.Err = Failed, err
		}
	}
	return res
}
