package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// PlanKind is what a plan wants.
type PlanKind string

// The kinds of plans.
const (
	PlanTool     PlanKind = "tool"
	PlanAnswer   PlanKind = "answer"
	PlanEscalate PlanKind = "escalate"
)

// Plan is the model's choice of the next step.
type Plan struct {
	Why   string
	Kind  PlanKind
	Tool  string // of PlanTool
	Brief string
	Input json.RawMessage // of a tool call that came with its arguments, else nil
}

// plan asks for the next step, once more with a hint if the reply is none.
func (r *run) plan(ctx context.Context) (Plan, error) {
	err := r.each("beforePlan", func(h *Hooks) error {
		if h.BeforePlan == nil {
			return nil
		}
		return h.BeforePlan(ctx, r.info, cloneSteps(r.steps))
	})
	if err != nil {
		return Plan{}, err
	}
	p, err := r.askPlan(ctx, "")
	if errors.Is(err, errMalformed) {
		r.emit(Event{Kind: EventRetry, Label: string(StagePlan), Err: err})
		if p, err = r.askPlan(ctx, fmt.Sprintf("Your last reply was no plan: %v.\n", err)); errors.Is(err, errMalformed) {
			err = &escalation{ReasonPlanInvalid, err}
		}
	}
	if err != nil {
		return Plan{}, err
	}
	r.emit(Event{Kind: EventPlan, Tool: p.Tool, Text: string(p.Kind)})
	return p, r.each("afterPlan", func(h *Hooks) error {
		if h.AfterPlan == nil {
			return nil
		}
		copied := p
		copied.Input = slices.Clone(p.Input)
		return h.AfterPlan(ctx, r.info, copied)
	})
}

func (r *run) askPlan(ctx context.Context, hint string) (Plan, error) {
	var tools strings.Builder
	for _, t := range r.a.tools {
		fmt.Fprintf(&tools, "- %s(%s): %s\n", t.name, strings.Join(t.schema.names, ", "), t.description)
	}
	reply, err := r.ask(ctx, prompt{
		stage: StagePlan, system: planSystem, schema: json.RawMessage(planSchema), withSteps: true,
		head: fmt.Sprintf("Tools:\n%s\n%sRequest: %s\n", tools.String(), r.background(), r.info.Ask),
		tail: fmt.Sprintf("\n%sSteps left: %d. Plan the next one.\n", hint, r.a.opts.MaxSteps-len(r.steps)),
	})
	if err != nil {
		return Plan{}, err
	}
	return r.readPlan(reply)
}

func (r *run) readPlan(reply Reply) (Plan, error) {
	if call := reply.ToolCall; call != nil {
		p := Plan{Kind: PlanTool, Tool: call.Name, Input: call.Input}
		if len(p.Input) == 0 {
			p.Input = json.RawMessage("{}")
		}
		return p, r.checkTool(p)
	}
	var raw struct {
		Why   string   `json:"why"`
		Kind  PlanKind `json:"kind"`
		Tool  string   `json:"tool"`
		Brief *string  `json:"brief"`
	}
	data := object(reply)
	if data == nil {
		return Plan{}, fmt.Errorf("%w: a JSON object is wanted", errMalformed)
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return Plan{}, fmt.Errorf("%w: why, kind, tool and brief are texts in one object", errMalformed)
	}
	if raw.Brief == nil {
		return Plan{}, fmt.Errorf("%w: brief is not given", errMalformed)
	}
	p := Plan{Why: raw.Why, Kind: raw.Kind, Brief: *raw.Brief}
	switch raw.Kind {
	case PlanAnswer, PlanEscalate:
		return p, nil
	case PlanTool:
		p.Tool = raw.Tool
		return p, r.checkTool(p)
	}
	return Plan{}, fmt.Errorf("%w: kind is %q, not tool, answer or escalate", errMalformed, shorten(string(raw.Kind), nameChars))
}

// nameChars is how much of a wrong name a hint repeats, in characters.
const nameChars = 64

func (r *run) checkTool(p Plan) error {
	if r.a.tool(p.Tool) != nil {
		return nil
	}
	var names []string
	for _, t := range r.a.tools {
		names = append(names, t.name)
	}
	return fmt.Errorf("%w: there is no tool %q, only %s", errMalformed, shorten(p.Tool, nameChars), strings.Join(names, ", "))
}
