package secret_test

import (
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/internal/secret"
)

func TestIn(t *testing.T) {
	long := strings.Repeat("0aZ", 12)
	for text, want := range map[string]string{
		"":                                "",
		"a page of plain text about keys": "",
		"sk-short":                        "",
		"see sk-proj-" + long + " there":  "an API key",
		"-----BEGIN RSA PRIVATE KEY-----": "a private key",
		"AKIA" + strings.Repeat("A1", 8):  "an AWS access key",
		"ghp_" + long:                     "a GitHub token",
		"glpat-" + long:                   "a GitLab token",
		"xoxb-1234567890-abc":             "a Slack token",
		"AIza" + long[:35]:                "a Google API key",
		"npm_" + long:                     "an npm token",
		"eyJ" + long + ".eyJ" + long + "." + long: "a signed token",
		"sk-abcdefghijklmnopqrst":                 "an API key",
		`"password": "correcthorsebattery"`:       "a password or key",
		"postgres://me:correcthorse@db/x":         "a password in a URL",
		"Authorization: Bearer " + long:           "a token",
		"https://example.com/a:b (no password)":   "",
	} {
		if got := secret.In(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
