package tree

// Moved returns how many inode numbers are kept from new directories.
func (t *Tree) Moved() int { return len(t.moved) }
