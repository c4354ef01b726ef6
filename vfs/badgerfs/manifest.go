package badgerfs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/goliathfs/goliathfs/vfs/badgerfs/internal/layout"
)

// The search index of a namespace is a manifest and the parts that it names, in
// DIR/index/.
const (
	indexDir        = "index"
	manifestExt     = ".index"
	partExt         = ".grams"
	manifestVersion = 1
)

// indexName matches what a store makes in DIR/index/, what it was making included.
var indexName = regexp.MustCompile(`^[0-9a-f]{16}(-[0-9]{6})?\.(index|index\.new|grams)$`)

// manifest names the parts of an index and the state of the database it belongs to.
type manifest struct {
	About     string     `json:"about"`
	Version   int        `json:"version"`
	Namespace string     `json:"namespace"`
	ID        string     `json:"id"`      // of this manifest
	Before    string     `json:"before"`  // of the one that the database knew of
	Commits   uint64     `json:"commits"` // that the database held at least
	Parts     []partNote `json:"parts"`   // oldest first
}

type partNote struct {
	Name string `json:"name"`
	Size int64  `json:"size"` // in bytes
}

// indexStem begins the names of a namespace's files.
func indexStem(namespace string) string {
	sum := sha256.Sum256([]byte(namespace))
	return hex.EncodeToString(sum[:8])
}

// write replaces the manifest in one step, durably. A line with a checksum follows
// the JSON.
func (m manifest) write(path string) error {
	m.About, m.Version = "The search index of this store. It can be removed and is then made anew.", manifestVersion
	text, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	return layout.WriteFile(path, fmt.Appendf(append(text, '\n'), "%08x\n", crc32.Checksum(text, castagnoli)))
}

// readManifest reads a manifest of this version.
func readManifest(path string) (*manifest, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	body, sum, ok := bytes.Cut(bytes.TrimSuffix(text, []byte("\n")), []byte("\n}\n"))
	if !ok {
		return nil, errors.New("it has no checksum")
	}
	body = append(body, "\n}"...)
	if string(sum) != fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli)) {
		return nil, errors.New("its checksum does not match")
	}
	var m manifest
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return nil, err
	}
	stem, _ := strings.CutSuffix(filepath.Base(path), manifestExt)
	switch {
	case m.Version != manifestVersion:
		return nil, fmt.Errorf("it is of version %d where this program knows %d", m.Version, manifestVersion)
	case indexStem(m.Namespace) != stem:
		return nil, errors.New("it is of another namespace")
	}
	for _, p := range m.Parts {
		if !indexName.MatchString(p.Name) || !strings.HasPrefix(p.Name, stem) {
			return nil, fmt.Errorf("it names %q, which is no part of an index", p.Name)
		}
	}
	return &m, nil
}

// surveyIndexes calls fn for each manifest in dir, with nil for one that cannot be
// used, and why.
func surveyIndexes(dir string, fn func(path string, m *manifest, err error)) error {
	entries, err := os.ReadDir(filepath.Join(dir, indexDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == manifestExt && indexName.MatchString(e.Name()) {
			path := filepath.Join(dir, indexDir, e.Name())
			m, err := readManifest(path)
			fn(path, m, err)
		}
	}
	return err
}

// sweepIndexes removes the parts that no manifest names.
func sweepIndexes(dir string, indexes map[string]*diskIndex) error {
	named := map[string]bool{}
	for _, k := range indexes {
		named[k.stem+manifestExt] = true
		for _, p := range k.last.Parts {
			named[p.Name] = true
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, indexDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		if indexName.MatchString(e.Name()) && !named[e.Name()] {
			errs = append(errs, os.Remove(filepath.Join(dir, indexDir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
