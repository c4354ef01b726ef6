package transcript

import (
	"encoding/json"
	"io"
)

func detectClaudeCode(head []byte) bool {
	return hasAll(`"sessionId"`, `"message"`)(head) || hasAll(`"parentUuid"`)(head) || hasAll(`"leafUuid"`, `"summary"`)(head)
}

type claudeLine struct {
	Type    string `json:"type"`
	Cwd     string `json:"cwd"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	ToolUseResult json.RawMessage `json:"toolUseResult"`
}

type claudePart struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// readClaudeCode reads a session of Claude Code.
func readClaudeCode(in io.Reader, c *collector) error {
	return eachJSONLine(in, c, func(l claudeLine, number int) {
		if l.Type != "assistant" && l.Type != "user" {
			return
		}
		c.folder(l.Cwd)
		var parts []claudePart
		if json.Unmarshal(l.Message.Content, &parts) != nil {
			return // a text
		}
		for _, p := range parts {
			switch p.Type {
			case "tool_use":
				c.call(p.ID, p.Name, p.Input, number)
			case "tool_result":
				c.result(p.ToolUseID, textOf(p.Content), p.IsError, number)
				c.claudeFile(p.ToolUseID, l.ToolUseResult)
			}
		}
	})
}

// claudeFile notes the contents of files that stand beside a result.
func (c *collector) claudeFile(id string, beside json.RawMessage) {
	var file struct {
		OriginalFile *string `json:"originalFile"`
		File         *struct {
			Content    string `json:"content"`
			StartLine  int    `json:"startLine"`
			NumLines   int    `json:"numLines"`
			TotalLines int    `json:"totalLines"`
		} `json:"file"`
	}
	if json.Unmarshal(beside, &file) != nil {
		return
	}
	switch {
	case file.OriginalFile != nil:
		c.file(id, fileContent{content: *file.OriginalFile, line: 1, whole: true})
	case file.File != nil && file.File.StartLine > 0:
		f := file.File
		c.file(id, fileContent{content: f.Content, line: f.StartLine, whole: f.StartLine == 1 && f.NumLines >= f.TotalLines})
	}
}
