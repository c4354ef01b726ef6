package agenttool

import "unicode/utf8"

// EstimateTokens is the counter used where no tokenizer is given, conservative
// on purpose: ceil(1.15 × ASCII characters / 4) plus the UTF-8 bytes of every
// other character.
func EstimateTokens(text string) int {
	ascii := 0
	for i := 0; i < len(text); i++ {
		if text[i] < utf8.RuneSelf {
			ascii++
		}
	}
	return estimate(ascii, len(text)-ascii)
}

// estimate works in whole numbers: 1.15/4 is 23/80.
func estimate(ascii, otherBytes int) int { return (ascii*23+79)/80 + otherBytes }
