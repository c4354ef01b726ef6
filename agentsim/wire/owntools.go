package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// toolName is what a client calls a tool.
type toolName struct{ namespace, name string }

// recognize finds the tools of own among those that a request offers. Clients
// rename tools, and some have a grep of their own, so a tool is known by its
// description and the names of its arguments; where the client changed the
// description, by its name and those.
func recognize(own, offered []Tool) map[toolName]string {
	found := map[toolName]string{}
	if len(own) == 0 {
		return found
	}
	arguments := make([][]string, len(offered))
	for i := range offered {
		arguments[i] = argumentNames(offered[i].Schema)
	}
	for _, o := range own {
		args := argumentNames(o.Schema)
		best, rank := toolName{}, 0
		for i, t := range offered {
			if !slices.Equal(arguments[i], args) {
				continue
			}
			r := 0
			switch {
			case strings.Contains(t.Description, o.Description) && o.Description != "":
				r = 3
			case t.Name == o.Name:
				r = 2
			case strings.HasSuffix(t.Name, o.Name):
				r = 1
			}
			if r > rank {
				best, rank = toolName{t.Namespace, t.Name}, r
			}
		}
		if rank > 0 {
			found[best] = o.Name
		}
	}
	return found
}

// argumentNames are the names of a schema's properties, in order.
func argumentNames(schema json.RawMessage) []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.Properties))
}

// OwnName is the name of a call's tool as Options.Tools has it, or as the client
// has it if the tool is none of them.
func (r *Request) OwnName(c *Call) string {
	if name, ok := r.own[toolName{c.Namespace, c.Name}]; ok {
		return name
	}
	return c.Name
}

// Owns reports whether a call is of one of Options.Tools.
func (r *Request) Owns(c *Call) bool {
	_, ok := r.own[toolName{c.Namespace, c.Name}]
	return ok
}

// rename gives a scripted call the name that the client has for its tool.
func (r *Request) rename(c *Call) error {
	for client, own := range r.own {
		if own == c.Name {
			c.Namespace, c.Name = client.namespace, client.name
			return nil
		}
	}
	var names []string
	for _, t := range r.Tools {
		if t.Name == c.Name && (c.Namespace == "" || c.Namespace == t.Namespace) {
			c.Namespace = t.Namespace
			return nil
		}
		names = append(names, t.Name)
	}
	if names == nil {
		return fmt.Errorf("the script calls the tool %s, but the request offers none", c.Name)
	}
	return fmt.Errorf("the script calls the tool %s, which the request does not offer; it offers %s", c.Name, strings.Join(names, ", "))
}
