package turn

// EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	EventBudget      EventKind = "budget"       // tokens were counted against a limit
	EventPlan        EventKind = "plan"         // Text is the kind of plan, Tool its tool
	EventRetry       EventKind = "retry"        // the model is asked once more; Label is the stage, Err says why
	EventStep        EventKind = "step"         // a step ended; Text is its status
	EventEscalation  EventKind = "escalation"   // Text is the reason
	EventAnswer      EventKind = "answer"       // Text is the answer
	EventRemembered  EventKind = "remembered"   // the memory was saved
	EventMemoryError EventKind = "memory-error" // the answer stands; Label is load, damaged, scribe or save
	EventHookError   EventKind = "hook-error"   // of OnError or OnFinish, which change nothing
)

// Event is one thing that happened in a run.
type Event struct {
	Kind         EventKind
	Conversation string
	Label        string // of a budget: a stage, a tool, "retrieved" or "summary"
	Tokens       int    // of a budget
	Limit        int    // of a budget
	Counter      string // of a budget: estimate or tokenizer
	Tool         string
	Text         string
	Step         *Step // of a step, a copy
	Err          error
}

func (r *run) emit(e Event) {
	if r.a.opts.OnEvent != nil {
		e.Conversation = r.info.Conversation
		r.a.opts.OnEvent(e)
	}
}

func (r *run) budget(label string, tokens, limit int) {
	r.emit(Event{Kind: EventBudget, Label: label, Tokens: tokens, Limit: limit, Counter: r.counter.kind})
}
