package transcript_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/transcript"
)

// longSession is a session of 15 MB: 900 files read, of 4 KB each, every third of
// them edited, and the output of a shell behind each.
func longSession() string {
	var b strings.Builder
	shell := strings.Repeat("ok  	example.com/pkg	0.01s\n", 350)
	for i := range 900 {
		var page strings.Builder
		for n := range 80 {
			fmt.Fprintf(&page, "%6d→line %d of file %d, which is like the others\n", n+1, n+1, i)
		}
		one := func(tool, args, result string) {
			fmt.Fprintf(&b, `{"type":"assistant","cwd":"/w","sessionId":"s","message":{"content":[{"type":"tool_use","id":"%d%s","name":%q,"input":%s}]}}`+"\n", i, tool, tool, args)
			fmt.Fprintf(&b, `{"type":"user","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"%d%s","content":%q}]}}`+"\n", i, tool, result)
		}
		one("Read", fmt.Sprintf(`{"file_path":"/w/src/%d.go"}`, i), page.String())
		if i%3 == 0 {
			one("Edit", fmt.Sprintf(`{"file_path":"/w/src/%d.go","old_string":"line 7 of","new_string":"LINE 7 of"}`, i), "ok")
		}
		one("Bash", `{"command":"go test"}`, shell)
	}
	return b.String()
}

// What it takes to read a long session, and to make a scenario of it too.
func BenchmarkImport(b *testing.B) {
	session := longSession()
	for _, make := range []bool{false, true} {
		b.Run(map[bool]string{false: "read", true: "read-and-make"}[make], func(b *testing.B) {
			b.SetBytes(int64(len(session)))
			for b.Loop() {
				t, err := transcript.Read(strings.NewReader(session), nil)
				if err != nil {
					b.Fatal(err)
				}
				if !make {
					continue
				}
				s, err := t.Scenario(b.Context())
				if err != nil || s.Calls != 1200 {
					b.Fatal(s, err)
				}
			}
		})
	}
}
