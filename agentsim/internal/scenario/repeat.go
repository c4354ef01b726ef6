package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goliathfs/goliathfs/internal/jsontext"
)

// maxMade is how many bytes the seeds and repeated texts of one scenario have
// together, so that a small file cannot fill the memory.
const maxMade = 64 << 20

// take takes n bytes of what a scenario may have.
func (b *Base) take(n int) error {
	if b.made += n; b.made > maxMade {
		return fmt.Errorf("the seeds and repeated texts of a scenario are more than the %d MiB that it may have, make them smaller", maxMade>>20)
	}
	return nil
}

// Settle makes the texts of a change, so that a replay has nothing to make.
func (b *Base) Settle(c Change) error {
	for _, path := range slices.Sorted(maps.Keys(c.Write)) { // so that the same error comes each time
		f := c.Write[path]
		text, err := b.content(f)
		if err != nil {
			return err
		}
		f.Text, f.Repeat, f.Count = &text, nil, 0
		c.Write[path] = f
	}
	return nil
}

// content returns the text of a file, and counts it when it is repeated.
func (b *Base) content(f File) (string, error) {
	if f.Text != nil {
		return *f.Text, nil
	}
	text := repeated(*f.Repeat, f.Count)
	return text, f.Pos.At(b.take(len(text)))
}

// maxRepeated is more than any store takes, so that a huge count is refused for
// its size without the text being made.
const maxRepeated = 1<<20 + 1

// repeated is the text as often as count says, with {n} counted from 1.
func repeated(text string, count int) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	parts := strings.Split(text, "{n}")
	for n := 1; n <= count && b.Len() < maxRepeated; n++ {
		b.WriteString(parts[0])
		for _, part := range parts[1:] {
			b.WriteString(strconv.Itoa(n))
			b.WriteString(part)
		}
	}
	return b.String()
}

// Repeat is a repeated text in a tool's arguments, as JSON.
type Repeat struct {
	Written string // {"repeat":…,"count":…}
	Text    string // the text it stands for
}

// Expand returns the arguments of a tool with the text in place of each object
// of repeat and count, and keeps how it was written. Everything else stays byte
// for byte.
func (b *Base) Expand(args json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(args, []byte(`"repeat"`)) {
		return args, nil
	}
	switch args[0] {
	case '{':
		return b.expandObject(args)
	case '[':
		return b.expandList(args)
	}
	return args, nil
}

func (b *Base) expandObject(object json.RawMessage) (json.RawMessage, error) {
	members, err := jsontext.Members(object)
	if err != nil {
		return nil, err
	}
	if len(members) == 2 {
		if text, ok, err := b.repeat(members); ok || err != nil {
			if ok {
				b.Repeats = append(b.Repeats, Repeat{string(object), string(text)})
			}
			return text, err
		}
	}
	var out bytes.Buffer
	for i, m := range members {
		name, err := json.Marshal(m.Name)
		if err != nil {
			return nil, err
		}
		value, err := b.Expand(m.Value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "%c%s:%s", "{,"[min(i, 1)], name, value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func (b *Base) expandList(list json.RawMessage) (json.RawMessage, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(list, &items); err != nil {
		return nil, err
	}
	for i := range items {
		var err error
		if items[i], err = b.Expand(items[i]); err != nil {
			return nil, err
		}
	}
	return append(append(json.RawMessage("["), bytes.Join(asBytes(items), []byte(","))...), ']'), nil
}

func asBytes(items []json.RawMessage) [][]byte {
	out := make([][]byte, len(items))
	for i, item := range items {
		out[i] = item
	}
	return out
}

// repeat returns the text of an object of repeat and count, in either order; ok
// is false for any other.
func (b *Base) repeat(members []jsontext.Member) (text json.RawMessage, ok bool, err error) {
	var repeat *string
	var count *int
	for _, m := range members {
		switch m.Name {
		case "repeat":
			ok = json.Unmarshal(m.Value, &repeat) == nil
		case "count":
			ok = json.Unmarshal(m.Value, &count) == nil
		default:
			ok = false
		}
		if !ok {
			return nil, false, nil
		}
	}
	if repeat == nil || count == nil {
		return nil, false, nil
	}
	if *count < 1 {
		return nil, false, errors.New("repeat needs a count of 1 or more")
	}
	made := repeated(*repeat, *count)
	if err := b.take(len(made)); err != nil {
		return nil, false, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err = enc.Encode(made)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err == nil, err
}
