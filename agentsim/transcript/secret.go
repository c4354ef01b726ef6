package transcript

import (
	"fmt"
	"regexp"
	"strings"
)

// SecretError says that a scenario would hold what looks like a secret. The secret
// itself is not repeated.
type SecretError struct {
	File string
	Line int
	Kind string // such as "a private key"
}

// Error returns one sentence.
func (e *SecretError) Error() string {
	return fmt.Sprintf("%s:%d: this looks like %s, replace it in the transcript by something else of the same length and import that", e.File, e.Line, e.Kind)
}

// secrets are forms that are hardly anything else. The order decides what a text
// that has several is called.
var secrets = []struct {
	kind string
	form *regexp.Regexp
}{
	{"a private key", regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----`)},
	{"an AWS access key", regexp.MustCompile(`\b(AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{"a GitHub token", regexp.MustCompile(`\b(gh[pousr]_[0-9A-Za-z]{30,}|github_pat_[0-9A-Za-z_]{30,})`)},
	{"a GitLab token", regexp.MustCompile(`\bglpat-[0-9A-Za-z_-]{20,}`)},
	{"a Slack token", regexp.MustCompile(`\bxox[abposr]-[0-9A-Za-z-]{10,}`)},
	{"a Google API key", regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}`)},
	{"an API key", regexp.MustCompile(`\b(sk|rk|pk)[-_](ant-|proj-|live[-_]|test[-_]|or-)?[0-9A-Za-z_-]{20,}`)},
	{"an npm token", regexp.MustCompile(`\bnpm_[0-9A-Za-z]{36}\b`)},
	{"a signed token", regexp.MustCompile(`\beyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,}`)},
	{"a token", regexp.MustCompile(`(?i)\bauthorization\\?["']?\s*[:=]\s*\\?["']?(bearer|basic)\s+[0-9A-Za-z._~+/=-]{16,}`)},
	{"a password or key", regexp.MustCompile(`(?i)\b[a-z_]*(password|passwd|secret|api[_-]?key|access[_-]?token|auth[_-]?token|private[_-]?key)\\?["']?\s*[:=]\s*\\?["']?[0-9A-Za-z+/_-]{16,}`)},
	{"a password in a URL", regexp.MustCompile(`\b[a-z][a-z0-9+.-]*://[^\s/:@"']+:[^\s/:@"']{6,}@`)},
}

// secretIn returns what kind of secret a text seems to hold, "" if none.
func secretIn(text string) string {
	if len(text) < 16 {
		return ""
	}
	for _, s := range secrets {
		if s.form.MatchString(text) {
			return s.kind
		}
	}
	return ""
}

// checkSecrets looks through what would go into a scenario. The line is that of
// the transcript in which it stands.
func checkSecrets(file string, steps []step) error {
	if file == "" {
		file = "transcript"
	}
	seen := map[*Call]bool{}
	for _, s := range steps {
		if s.call == nil || seen[s.call] {
			continue
		}
		seen[s.call] = true
		if kind := secretIn(string(s.call.Input)); kind != "" {
			return &SecretError{file, s.call.Line, kind}
		}
		texts := []string{s.call.Result}
		if s.call.file != nil {
			texts = append(texts, s.call.file.content)
		}
		if kind := secretIn(strings.Join(texts, "\n")); kind != "" {
			return &SecretError{file, s.call.resultLine, kind}
		}
	}
	return nil
}
