package badgerfs

import "github.com/goliathfs/goliathfs/vfs/vpath"

// Keys are a kind, the namespace with its length before it, and the path in the
// form of vpath.AppendKey. The kinds of metadata and content differ, so that a
// scan of the one never meets the other.
const (
	kindMeta    = 'm'
	kindContent = 't'
	kindDirty   = 'd' // files that the search index on disk may not know as they are
	kindIndex   = 'i' // one key a namespace, with the ID of its search index
)

// pastPaths follows a prefix in a key that sorts after every path with that
// prefix, for a path starts with "/".
const pastPaths = '/' + 1

// The keys of the store itself. No kind starts with their first byte.
var (
	formatKey  = []byte("#format")
	commitsKey = []byte("#commits")
	indexedKey = []byte("#indexed") // the last commit that was made with dirty keys
	flushKey   = []byte("#flush")
)

// namespacePrefix returns what all keys of one kind and namespace begin with,
// and no other key does.
func namespacePrefix(kind byte, namespace string) []byte {
	key := make([]byte, 0, 2+len(namespace))
	key = append(key, kind, byte(len(namespace)))
	return append(key, namespace...)
}

// pathKey appends a path, or any other bound of a listing, to a prefix.
func pathKey(prefix []byte, path string) []byte {
	key := make([]byte, len(prefix), len(prefix)+len(path))
	copy(key, prefix)
	return vpath.AppendKey(key, path)
}

// parseKey takes a metadata or content key apart.
func parseKey(key []byte) (namespace, path string, ok bool) {
	if len(key) < 2 || len(key) < 2+int(key[1]) {
		return "", "", false
	}
	n := 2 + int(key[1])
	return string(key[2:n]), vpath.ParseKey(key[n:]), true
}
