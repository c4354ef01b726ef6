package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// answer asks for the answer, once more if it is empty.
func (r *run) answer(ctx context.Context, brief string) (string, error) {
	if brief != "" {
		brief = "Answer with this in mind: " + oneLine(brief) + "\n"
	}
	for _, nudge := range []string{"", "Your last reply was empty. Answer in at least one sentence.\n"} {
		if nudge != "" {
			r.emit(Event{Kind: EventRetry, Label: string(StageAnswer), Err: errors.New("the answer is empty")})
		}
		reply, err := r.ask(ctx, prompt{
			stage: StageAnswer, system: answerSystem, withSteps: true,
			head: fmt.Sprintf("%sRequest: %s\n", r.background(), r.info.Ask),
			tail: "\n" + brief + nudge + "Write the answer.\n",
		})
		if err != nil && !errors.Is(err, errMalformed) {
			return "", err
		}
		if text := strings.ToValidUTF8(strings.TrimSpace(reply.Text), "\uFFFD"); err == nil && text != "" {
			return text, nil
		}
	}
	return "", &escalation{reason: ReasonEmptyAnswer}
}
