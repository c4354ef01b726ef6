package strictyaml

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

var (
	// isDecimal are the numbers that mean the same to everyone, those of JSON.
	isDecimal = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	// likeNumber are the plain texts that some reader of YAML takes for a number.
	likeNumber = regexp.MustCompile(`^[-+]?(0[xob][0-9A-Fa-f_]+|[0-9][0-9_]*\.?[0-9_]*([eE][-+]?[0-9]+)?|\.[0-9][0-9_]*([eE][-+]?[0-9]+)?)$`)
)

// decimal refuses a number in a form that readers of YAML read differently: 010
// is eight to one and ten to another, 1_0 is ten or a text.
func decimal(n ast.Node) error {
	tok := n.GetToken()
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		if isDecimal.MatchString(tok.Value) {
			return nil
		}
	case *ast.StringNode:
		quoted := tok.Type == token.DoubleQuoteType || tok.Type == token.SingleQuoteType
		if quoted || !likeNumber.MatchString(n.Value) {
			return nil
		}
	default:
		return nil
	}
	return fmt.Errorf("readers of YAML differ over the number %s: write it in plain decimal digits, or in double quotes if it is meant as text", tok.Value)
}

// Decimal writes a number in plain digits. Readers of YAML differ over exponents
// without a point, and over whole numbers that need more than 64 bits.
func Decimal(f float64) string {
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if math.Abs(f) >= 1<<63 {
		text += ".0"
	}
	return text
}
