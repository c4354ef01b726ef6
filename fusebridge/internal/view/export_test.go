//go:build linux

package view

// Places returns how many places are known.
func (r *Routes) Places() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.places)
}
