package agenttool

import "github.com/goliathfs/goliathfs/vfs/agenttool/codes"

// tokens counts a text.
func (c *call) tokens(text string) (int, error) {
	n := c.count(text)
	if n < 0 {
		return 0, refuse(codes.Store, "the token counter gave %d for a text, tell the application to return 0 or more", n)
	}
	return n, nil
}

// page is a text that fits the budget, and how much of what was offered is on
// it.
type page struct {
	size   int
	text   string
	tokens int
}

// largest finds the greatest size from least to most whose text fits the
// budget. It tries most first, because the whole rest usually fits, then
// approaches from below, so that a counter sees texts of about the budget and
// not of the whole file. With a counter that is not monotone the page fits but
// need not be the largest. False means that not even least fits.
func (c *call) largest(least, most int, text func(size int) string) (page, bool, error) {
	try := func(size int) (page, bool, error) {
		p := page{size: size, text: text(size)}
		n, err := c.tokens(p.text)
		p.tokens = n
		return p, err == nil && n <= c.budget, err
	}
	best, fits, err := try(most)
	if fits || err != nil || most <= least {
		return best, fits, err
	}
	if best, fits, err = try(least); !fits || err != nil {
		return best, false, err
	}
	tooLarge := most
	for step := max(1, c.budget/2); best.size+step < tooLarge; step *= 2 {
		p, fits, err := try(best.size + step)
		if err != nil {
			return p, false, err
		}
		if !fits {
			tooLarge = p.size
			break
		}
		best = p
	}
	for best.size+1 < tooLarge {
		p, fits, err := try(best.size + (tooLarge-best.size)/2)
		if err != nil {
			return p, false, err
		}
		if fits {
			best = p
		} else {
			tooLarge = p.size
		}
	}
	return best, true, nil
}

// single returns the result of a tool that has one page.
func (c *call) single(out output) (Result, error) {
	text := out.text()
	n, err := c.tokens(text)
	if err != nil {
		return Result{}, err
	}
	return Result{out, text, n}, nil
}
