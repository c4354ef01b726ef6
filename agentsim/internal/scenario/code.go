package scenario

import "github.com/goliathfs/goliathfs/vfs/agenttool/codes"

// Code is the code of a tool error, as an expectation names it.
type Code string

// Allowed implements strictyaml.Enum.
func (Code) Allowed() []string {
	var names []string
	for _, c := range codes.All() {
		names = append(names, string(c))
	}
	return names
}
