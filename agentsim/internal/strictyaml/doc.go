// Package strictyaml decodes YAML that people write by hand and want to be told
// about: an unknown name is an error with file, line, column and the names that
// are allowed, never something that is quietly left out.
//
// It takes the part of YAML that a scenario needs, one document of mappings,
// lists and scalars. Anchors, aliases, tags and merge keys are refused. A text
// must be a text: 42 where a text belongs is an error that says to quote it.
package strictyaml
