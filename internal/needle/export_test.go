package needle

// FoldedFind returns where the needle occurs in text, ignoring case, and how many
// characters were compared for it.
func FoldedFind(text, pattern string) (found []int, compared int) {
	scan := New(pattern, true).In(text)
	for at := 0; at <= len(text); {
		hit := scan.Find(at)
		if hit < 0 {
			break
		}
		found = append(found, hit)
		at = hit + 1
	}
	return found, scan.compared
}
