package vfstest

import "testing"

// RuleNames returns the name of every rule, for the test that each can fail.
func RuleNames() []string {
	var names []string
	for _, r := range rules {
		names = append(names, r.name)
	}
	return names
}

// CheckRule is Check for the one rule of that name.
func CheckRule(t *testing.T, cfg Config, name string) error {
	t.Helper()
	var some []rule
	for _, r := range rules {
		if r.name == name {
			some = append(some, r)
		}
	}
	return check(t, cfg, some)
}

// Unsaid returns what TestBackend says before any rule.
func (cfg Config) Unsaid(t *testing.T) string { return cfg.unsaid(t) }
