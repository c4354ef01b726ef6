package transcript

import (
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/secret"
)

// SecretError says that a scenario would hold what looks like a secret. The secret
// itself is not repeated.
type SecretError struct {
	File string
	Line int    // 0 for what is no transcript
	Kind string // such as "a private key"
}

// Error returns one sentence.
func (e *SecretError) Error() string {
	if e.Line == 0 { // of what is no transcript
		return fmt.Sprintf("%s: this looks like %s, which a scenario must not hold: leave it out or replace it there", e.File, e.Kind)
	}
	return fmt.Sprintf("%s:%d: this looks like %s, replace it in the transcript by something else of the same length and import that", e.File, e.Line, e.Kind)
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
		if kind := secret.In(string(s.call.Input)); kind != "" {
			return &SecretError{file, s.call.Line, kind}
		}
		texts := []string{s.call.Result}
		if s.call.file != nil {
			texts = append(texts, s.call.file.content)
		}
		if kind := secret.In(strings.Join(texts, "\n")); kind != "" {
			return &SecretError{file, s.call.resultLine, kind}
		}
	}
	return nil
}
