package sqlitefs_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUnlisted: what is listed and what is told as unlisted are all rows.
func TestUnlisted(t *testing.T) {
	file, db := broken(t)
	s := open(t, file, nil)
	problems, err := s.Unlisted(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	got := paths(t, s, "/", 100)
	for _, p := range problems {
		if p.Err == nil || p.Err.Error() == "" {
			t.Errorf("%q is told without a reason", p.Path)
		}
		got = append(got, p.Path)
	}
	var want []string
	rows, err := db.QueryContext(t.Context(), `SELECT CAST(path AS TEXT) FROM goliath_files_v1 WHERE namespace = 'default'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var path string
		if err := rows.Scan(&path); err != nil {
			t.Fatal(err)
		}
		want = append(want, path)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-rows +told):\n%s", diff)
	}
	for dir, want := range map[string]int{"/b": 1, "/b/..": -1, "/wrong-key": 1, "/wrong": 0} { // "/b/../c" is stored below /b
		problems, err := s.Unlisted(t.Context(), dir)
		if len(problems) != max(want, 0) || (err != nil) != (want < 0) {
			t.Errorf("below %s: %v, %v", dir, problems, err)
		}
	}
	other := open(t, file, nil)
	view, err := other.Namespace("empty")
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := view.Unlisted(t.Context(), "/"); err != nil || len(problems) > 0 {
		t.Errorf("an empty namespace: %v, %v", problems, err)
	}
}
