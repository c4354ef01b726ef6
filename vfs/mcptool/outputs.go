package mcptool

import "github.com/goliathfs/goliathfs/vfs/agenttool"

// outputSchemas describe the structured content of results. nextCursor has no
// type, because it is a string or null and some clients take no unions.
var outputSchemas = map[string]string{
	agenttool.Glob: `{"type":"object","properties":{` +
		`"matches":{"type":"array","items":{"type":"object","properties":{` + propFile + `},"required":["path","revision"]}},` +
		propNext + `},"required":["matches","nextCursor"]}`,
	agenttool.Grep: `{"type":"object","properties":{` +
		`"matches":{"type":"array","items":{"type":"object","properties":{` + propFile +
		`,"line":{"type":"integer","description":"One-based line."},"excerpt":{"type":"string"}},"required":["path","revision","line","excerpt"]}},` +
		propNext + `,"skipped":{"type":"array","items":{"type":"string"},"description":"Files that could not be searched."}},"required":["matches","nextCursor"]}`,
	agenttool.ReadFile: `{"type":"object","properties":{` + propFile +
		`,"line":{"type":"integer","description":"One-based line of the first character."}` +
		`,"continued":{"type":"boolean","description":"The excerpt starts inside that line."},"content":{"type":"string"},` +
		propNext + `},"required":["path","revision","line","continued","content","nextCursor"]}`,
	agenttool.WriteFile:  `{"type":"object","properties":{` + propFile + `},"required":["path","revision"]}`,
	agenttool.EditFile:   `{"type":"object","properties":{` + propFile + `},"required":["path","revision"]}`,
	agenttool.DeleteFile: `{"type":"object","properties":{"path":{"type":"string"},"deleted":{"type":"boolean"}},"required":["path","deleted"]}`,
}

const (
	propFile = `"path":{"type":"string"},"revision":{"type":"string"}`
	propNext = `"nextCursor":{"description":"The cursor of the next page, a string; null at the end."}`
)
