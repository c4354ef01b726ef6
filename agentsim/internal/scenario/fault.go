package scenario

// Fault is what goes wrong in a store that is failing: the code of the error.
type Fault string

// The faults.
const (
	FaultStore    Fault = "store"
	FaultNotText  Fault = "not-text"
	FaultConflict Fault = "conflict"
)

// Allowed implements strictyaml.Enum.
func (Fault) Allowed() []string {
	return []string{string(FaultStore), string(FaultNotText), string(FaultConflict)}
}
