//go:build linux

package view

import "time"

// Places returns how many places are known.
func (r *Routes) Places() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.places)
}

// SetPatience sets how long names are waited for that are being dropped.
func SetPatience(v *View, d time.Duration) { v.Notify.patience = d }
