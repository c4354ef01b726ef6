package folder_test

import (
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/internal/folder"
)

func TestReplace(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"/work":                        "<here>",
		"/work/a.md":                   "<here>/a.md",
		"in /work.":                    "in <here>.",
		"in /work... or `/work`":       "in <here>... or `<here>`",
		"/work:12: /work, (/work)":     "<here>:12: <here>, (<here>)",
		"file:///work/a":               "file://<here>/a",
		"x=/work /work/work":           "x=<here> <here>/work",
		`{"text":"a\n/work\t/work"}`:   `{"text":"a\n<here>\t<here>"}`,
		"/workshop /work.d /work-2":    "/workshop /work.d /work-2",
		"/works /work_ /work1 /workä":  "/works /work_ /work1 /workä",
		"/home/work a/work ~/work":     "/home/work a/work ~/work",
		"./work ../work http://h/work": "./work ../work http://h/work",
		"/work/work /work/workshop":    "<here>/work <here>/workshop",
		"work /wor k /work":            "work /wor k <here>",
	} {
		if got := folder.Replace(text, "/work", func(string) string { return "<here>" }); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
