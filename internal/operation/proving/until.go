package proving

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/prove"
	"github.com/slipway-dev/slipway/internal/prove/expression"
)

var errUntil = errors.New("it is an expression, or has the key condition: a type, or type and status")

// condition reads an until: the text of an expression, or the type of a condition in an object's status. It is nil
// where there is none.
func condition(node *yaml.Node) (*prove.Condition, error) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	text, name := node.Value, node.Value
	switch node.Kind {
	case 0:
		return nil, nil
	case yaml.ScalarNode:
	case yaml.MappingNode:
		kind, status, err := typeAndStatus(node)
		if err != nil {
			return nil, err
		}
		text, name = holdsCondition(kind, status), fmt.Sprintf("condition %s is %s", kind, status)
	default:
		return nil, errUntil
	}
	compiled, err := expression.Compile(text, prove.VariableObject, prove.VariableObjects)
	if err != nil {
		return nil, err
	}
	return &prove.Condition{Expression: compiled, Text: name}, nil
}

// holdsCondition is the expression of a condition of the status. One that was observed for an older generation does not
// count, as kubectl wait has it.
func holdsCondition(kind, status string) string {
	return fmt.Sprintf("object != null && object.?status.?conditions.orValue([]).exists(c, c.type == %s && c.status == %s && "+
		"c.?observedGeneration.orValue(0) in [0, object.metadata.?generation.orValue(0)])", strconv.QuoteToASCII(kind), strconv.QuoteToASCII(status))
}

// typeAndStatus reads the key condition.
func typeAndStatus(node *yaml.Node) (kind, status string, err error) {
	if len(node.Content) != 2 || node.Content[0].Value != "condition" {
		return "", "", errUntil
	}
	node = node.Content[1]
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	fields := map[string]string{"status": "True"}
	switch node.Kind {
	case yaml.ScalarNode:
		fields["type"] = node.Value
	case yaml.MappingNode:
		for i := 0; i < len(node.Content); i += 2 {
			key := node.Content[i].Value
			if !slices.Contains([]string{"type", "status"}, key) || node.Content[i+1].Kind != yaml.ScalarNode {
				return "", "", errUntil
			}
			fields[key] = node.Content[i+1].Value
		}
	}
	if fields["type"] == "" {
		return "", "", errUntil
	}
	return fields["type"], fields["status"], nil
}
