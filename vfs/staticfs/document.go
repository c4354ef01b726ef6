package staticfs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/internal/jsontext"
	"github.com/goliathfs/goliathfs/internal/txtar"
)

// FromTxtar returns the files of a txtar archive; its comment is left out. A
// name may start with "/" or not. Someone wrote the archive by hand, so its
// first bad file is an error, as in New, and so is text without any file.
func FromTxtar(data []byte) (*FS, error) {
	var b builder
	_, files := txtar.Split(string(withoutMark(data)))
	if len(files) == 0 && len(bytes.TrimSpace(data)) > 0 {
		return nil, errors.New("txtar: no file is in it, each starts with a line such as -- docs/guide.md --")
	}
	for _, f := range files {
		if err := b.add("/"+strings.TrimPrefix(f.Name, "/"), f.Text, time.Time{}); err != nil {
			return nil, err
		}
	}
	return b.finish()
}

// withoutMark is the text without the U+FEFF that some editors begin a file with:
// it is no part of an archive or of JSON.
func withoutMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\ufeff")) }

// FromJSON returns the files of a JSON object from path to content, the form
// in which seeds are written down. Errors: those of New, a path given twice, and
// JSON that is not one object of strings; each says where.
func FromJSON(data []byte) (*FS, error) {
	if err := checkJSONText(data); err != nil {
		return nil, err
	}
	data = withoutMark(data)
	dec := json.NewDecoder(bytes.NewReader(data))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return nil, jsonError(dec, err, "it must be an object from path to content")
	}
	var b builder
	for dec.More() {
		path, err := dec.Token() // a key, so a string, or the decoder says no
		if err != nil {
			return nil, jsonError(dec, err, "")
		}
		value, err := dec.Token()
		content, ok := value.(string)
		if err != nil || !ok {
			return nil, jsonError(dec, err, fmt.Sprintf("the content of %q must be a string", path))
		}
		if err := b.add(path.(string), content, time.Time{}); err != nil {
			return nil, err
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, jsonError(dec, err, "")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, jsonError(dec, nil, "nothing may follow the object")
	}
	return b.finish()
}

func jsonError(dec *json.Decoder, err error, otherwise string) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("JSON of files: it ends at byte %d, before the object does", dec.InputOffset())
	case err != nil:
		return fmt.Errorf("JSON of files: at byte %d: %w", dec.InputOffset(), err)
	}
	return fmt.Errorf("JSON of files: at byte %d: %s", dec.InputOffset(), otherwise)
}

// checkJSONText refuses what encoding/json would replace by U+FFFD in silence:
// invalid UTF-8 and escapes of half a surrogate pair.
func checkJSONText(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("JSON of files: it is not valid UTF-8, convert it first")
	}
	if at, half := jsontext.HalfPair(data); at >= 0 {
		return fmt.Errorf("JSON of files: at byte %d: \\u%04x is half a surrogate pair and no character", at, half)
	}
	return nil
}
