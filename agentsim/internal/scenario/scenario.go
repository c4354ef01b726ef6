// Package scenario reads scenarios: the archive, what scenario.yaml says in
// every kind of scenario, and the seeds. What belongs to one kind is a Part,
// which the kind brings along, so that this package knows none of them.
package scenario

// Scenario is what is common to scenarios of all kinds. It is not changed by a
// replay, so that one can be replayed many times and at the same time.
type Scenario struct {
	Path        string // the file it was read from
	Name        string // area/name, without the extension
	Description string // the archive's comment, without space around it
	Base
	Seeds map[string]string // canonical path to content
}

// Part is what scenario.yaml says in scenarios of one kind alone: a pointer to a
// struct that strictyaml can decode to. It may be a strictyaml.Validator.
type Part interface {
	// Key is the name in scenario.yaml that every scenario of this kind has, and
	// none of another.
	Key() string
	// Check looks at what the two say together, once both are decoded. An error
	// without a place is reported at the beginning of scenario.yaml.
	Check(b *Base) error
}
