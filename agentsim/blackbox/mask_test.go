package blackbox_test

import (
	"os"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// What varies is masked in each form that it is written in, also when it is all
// there is, and nothing else is.
func TestMaskForms(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"0b7bb5c1-9b3f-4c1e-8f2a-1234567890ab": "<uuid>",
		"in 2026-11-30":                        "in <date>",
		"2026-11-30T10:11:12.5Z":               "<date>",
		"2026-11-30 10:11:12 +0100":            "<date> +0100",
		"Mon Nov 30 2026":                      "<date>",
		"Monday, 30 November 2026":             "<date>",
		"Tue, November 3, 2026":                "<date>",
		"3s":                                   "<duration>",
		"after 12 seconds":                     "after <duration>",
		"0.25 ms":                              "<duration>",
		"7milliseconds":                        "<duration>",
		"1 sec":                                "<duration>",
		"see 127.0.0.1:80":                     "see <address>",
		"http://localhost:65535/v1":            "http://<address>/v1",
		"in " + here + ", " + here + "/a.md":   "in <here>, <here>/a.md",
		"in " + here + ".":                     "in <here>.",
		here + "s/a.md, /x" + here:             here + "s/a.md, /x" + here,
		"line 30 of 2026, 5 steps, 3 models, port 8080 of a-b-c": "line 30 of 2026, 5 steps, 3 models, port 8080 of a-b-c",
	} {
		golden, err := replay(t, header+"wire: [{model: [{text: Done.}]}]\n", inGoKind(goAgent{protocol: wire.Chat, ask: text}.run))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(golden, "tokens\n"+want+"\nreply:") {
			t.Errorf("%q is not shown as %q:\n%s", text, want, golden)
		}
	}
}
