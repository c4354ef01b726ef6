package layout

import "os"

// Entries returns where the last sound entry of a log ends, and the entries.
func Entries(f *os.File) (end int64, keys, values []string) {
	l, err := newLogReader(f)
	for err == nil {
		var e logEntry
		if e, err = l.next(); err == nil {
			keys, values = append(keys, string(e.name())), append(values, string(e.value))
		}
	}
	return l.end, keys, values
}
