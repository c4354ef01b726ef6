package transcript

import (
	"encoding/json"
	"io"
	"strings"
)

// otelRecord is a span or a log record.
type otelRecord struct {
	SpanID     string          `json:"spanId"`
	Attributes []otelAttribute `json:"attributes"`
	Status     struct {
		Code json.RawMessage `json:"code"`
	} `json:"status"`
}

type otelAttribute struct {
	Key   string    `json:"key"`
	Value otelValue `json:"value"`
}

// otelValue is a value as OTLP writes it: an object whose one name is its type.
type otelValue struct {
	String *string         `json:"stringValue"`
	Bool   *bool           `json:"boolValue"`
	Int    json.RawMessage `json:"intValue"` // a number in a string
	Double *float64        `json:"doubleValue"`
	Array  *struct {
		Values []otelValue `json:"values"`
	} `json:"arrayValue"`
	List *struct {
		Values []otelAttribute `json:"values"`
	} `json:"kvlistValue"`
}

// decoded returns the value as package json decodes values.
func (v otelValue) decoded() any {
	switch {
	case v.String != nil:
		return *v.String
	case v.Bool != nil:
		return *v.Bool
	case v.Int != nil:
		return json.Number(strings.Trim(string(v.Int), `"`))
	case v.Double != nil:
		return *v.Double
	case v.Array != nil:
		list := []any{}
		for _, e := range v.Array.Values {
			list = append(list, e.decoded())
		}
		return list
	case v.List != nil:
		object := map[string]any{}
		for _, a := range v.List.Values {
			object[a.Key] = a.Value.decoded()
		}
		return object
	}
	return nil
}

// json returns the value as JSON: that which a string holds, where it does.
func (v otelValue) json() json.RawMessage {
	if v.String != nil && json.Valid([]byte(*v.String)) {
		return json.RawMessage(*v.String)
	}
	data, err := json.Marshal(v.decoded())
	if err != nil {
		return nil // a number that is none
	}
	return data
}

// text returns a string as it is, and another value as JSON.
func (v otelValue) text() string {
	if v.String != nil {
		return *v.String
	}
	return textOf(v.json())
}

type otelMessage struct {
	Parts []struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Response  json.RawMessage `json:"response"`
		Result    json.RawMessage `json:"result"`
	} `json:"parts"`
}

// readOTel reads spans and events of generative AI in OTLP/JSON, one document or
// one a line.
func readOTel(in io.Reader, c *collector) error {
	paths := []string{"resourceSpans.*.scopeSpans.*.spans.*", "resourceLogs.*.scopeLogs.*.logRecords.*"}
	return eachElement(in, c, paths, func(_ string, value json.RawMessage, line int) {
		var r otelRecord
		if err := json.Unmarshal(value, &r); err != nil {
			c.damage(line, "a record is not as this format has it: "+jsonProblem(err))
			return
		}
		attributes := map[string]otelValue{}
		for _, a := range r.Attributes {
			attributes[a.Key] = a.Value
		}
		if attributes["gen_ai.operation.name"].text() == "execute_tool" {
			c.otelTool(r, attributes, line)
		}
		// Each request tells the conversation so far again, by the same ids.
		for _, key := range []string{"gen_ai.input.messages", "gen_ai.output.messages"} {
			if v, has := attributes[key]; has {
				c.otelMessages(v.json(), line)
			}
		}
	})
}

func (c *collector) otelTool(r otelRecord, attributes map[string]otelValue, line int) {
	id := attributes["gen_ai.tool.call.id"].text()
	if id == "" {
		id = "span " + r.SpanID
	}
	c.call(id, attributes["gen_ai.tool.name"].text(), attributes["gen_ai.tool.call.arguments"].json(), line)
	if result, has := attributes["gen_ai.tool.call.result"]; has {
		code := strings.Trim(string(r.Status.Code), `"`)
		_, failed := attributes["error.type"]
		c.result(id, result.text(), failed || code == "2" || code == "STATUS_CODE_ERROR", line)
	}
}

func (c *collector) otelMessages(messages json.RawMessage, line int) {
	var list []otelMessage
	if err := json.Unmarshal(messages, &list); err != nil {
		c.damage(line, "messages are not as this format has them: "+jsonProblem(err))
		return
	}
	for _, m := range list {
		for _, p := range m.Parts {
			switch p.Type {
			case "tool_call":
				c.call(p.ID, p.Name, p.Arguments, line)
			case "tool_call_response":
				if p.Response == nil {
					p.Response = p.Result
				}
				c.result(p.ID, textOf(p.Response), false, line)
			}
		}
	}
}
