// Package secret knows what keys and passwords look like, so that what is recorded
// of an agent does not carry them into a repository.
package secret

import "regexp"

// forms are hardly anything else than secrets. The order decides what a text
// that has several is called.
var forms = []struct {
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

// In returns what kind of secret a text seems to hold, "" if none.
func In(text string) string {
	if len(text) < 16 {
		return ""
	}
	for _, s := range forms {
		if s.form.MatchString(text) {
			return s.kind
		}
	}
	return ""
}
