package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
)

// memoryTable is where a phone keeps memories as the values of a table.
type memoryTable struct {
	database.KeyValueTable
	prefix string // of the keys
}

// The parameters of a store URL that memory alone knows.
const (
	paramTable  = "table"
	paramKey    = "key"
	paramValue  = "value"
	paramPrefix = "prefix"
)

// tableOf takes the parameters that name a table off a store URL. The table is nil
// when there are none.
func tableOf(raw string) (string, *memoryTable, error) {
	base, query, _ := strings.Cut(raw, "?")
	var t memoryTable
	var rest []string
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		into, known := map[string]*string{paramTable: &t.Table, paramKey: &t.Key, paramValue: &t.Value, paramPrefix: &t.prefix}[name]
		if !known {
			rest = append(rest, pair)
			continue
		}
		text, err := url.PathUnescape(value)
		switch {
		case err != nil:
			return "", nil, usagef("%q has a %% that starts no escape, write %%25 for a percent sign", value)
		case seen[name]:
			return "", nil, usagef("the parameter %s is given twice, give it once", name)
		case text == "":
			return "", nil, usagef("the parameter %s is blank, give it a value or leave it out", name)
		}
		seen[name], *into = true, text
	}
	if len(seen) == 0 {
		return raw, nil, nil
	}
	if scheme := string(storeurl.SQLite) + ":"; !strings.HasPrefix(base, scheme) {
		return "", nil, usagef("%s names a table, and only %s has tables", raw, scheme)
	}
	if t.Table == "" || t.Key == "" || t.Value == "" {
		return "", nil, usagef("a table of memories is named by %s, %s and %s together, as in 'sqlite:app.db?table=conversations&key=id&value=memory&prefix=goliath:'", paramTable, paramKey, paramValue)
	}
	if q := strings.Join(rest, "&"); q != "" {
		base += "?" + q
	}
	return base, &t, nil
}

// inTables returns the conversations that a SQLite database remembers in key-value
// tables: all those of the one that is named, else those whose form is unmistakable.
func inTables(ctx context.Context, u storeurl.URL, named *memoryTable) ([]remembered, error) {
	var found []remembered
	table := database.KeyValueTable{}
	if named != nil {
		table = named.KeyValueTable
	}
	err := database.ReadKeyValues(ctx, u.Target, table, func(row database.KeyValue) {
		var e memory.Entry
		var ok bool
		if row.Bytes > database.MaxValue {
			row.Value = `{"summary":"","recent":[]}` // the key alone tells what it is
		}
		if named == nil {
			e, _, ok = memory.FindValue(row.Key, row.Value)
		} else {
			e, ok = memory.ValueEntry(row.Key, row.Value, named.prefix)
		}
		if !ok {
			return
		}
		r := rememberedOf(e)
		r.Path, r.Table, r.Key = "", row.Table, row.Key
		if row.Bytes > database.MaxValue {
			r.Damaged = fmt.Sprintf("the value has %d bytes, and at most %d are read", row.Bytes, database.MaxValue)
		}
		found = append(found, r)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u, err)
	}
	return found, nil
}
