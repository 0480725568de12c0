// Package expression evaluates conditions over Kubernetes objects, in CEL as Kubernetes' own validation rules have it:
//
//	e, err := expression.Compile("objects.filter(o, o.kind == 'Pod').size() < 4", "objects")
//	holds, err := e.Holds(map[string]any{"objects": objects})
//
// The language has CEL's standard functions, those of strings, lists and sets, and optional fields. It has no function
// that reaches out of the expression, and its cost is bounded: a scenario may come from a stranger's repository.
package expression

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
)

// maxCost bounds an evaluation. It is the API server's own limit for a rule, about a tenth of a second.
const maxCost = 1_000_000

// An Expression is a condition. It may be used by several goroutines.
type Expression struct{ program cel.Program }

// environment is made once, when the first expression is compiled: that takes some milliseconds.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(ext.Strings(), ext.Lists(), ext.Sets(), cel.OptionalTypes(), cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(true), cel.CustomTypeAdapter(adapter{}))
})

// Compile checks a text with variables of any type. It has to be a condition.
func Compile(text string, variables ...string) (*Expression, error) {
	base, err := environment()
	if err != nil {
		return nil, err
	}
	var options []cel.EnvOption
	for _, name := range variables {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	env, err := base.Extend(options...)
	if err != nil {
		return nil, err
	}
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, fmt.Errorf("column %d of the expression: %s", first.Location.Column()+1, first.Message)
	}
	if t := checked.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("its value is of the type %s; it has to be true or false", t)
	}
	program, err := env.Program(checked, cel.CostLimit(maxCost))
	return &Expression{program}, err
}

// errType says that an expression over fields has turned out to be no condition.
var errType = errors.New("its value is neither true nor false")

// Holds evaluates the expression. Values are those of decoded JSON, and are not changed. It is an error if the
// expression reads a field that is not there.
func (e *Expression) Holds(values map[string]any) (bool, error) {
	result, _, err := e.program.Eval(values)
	if err != nil {
		return false, err
	}
	holds, ok := result.Value().(bool)
	if !ok {
		return false, errType
	}
	return holds, nil
}

// An adapter makes values of CEL from decoded JSON, when an expression reads them. JSON does not distinguish 3 from
// 3.0, and fields of Kubernetes are whole numbers nearly always: those are integers, so that arithmetic works.
type adapter struct{}

// NativeToValue implements [types.Adapter].
func (a adapter) NativeToValue(value any) ref.Val {
	switch v := value.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return types.Int(v)
		}
	case map[string]any:
		if v == nil {
			return types.NullValue
		}
		return types.NewStringInterfaceMap(a, v)
	case []any:
		return types.NewDynamicList(a, v)
	case []map[string]any:
		return types.NewDynamicList(a, v)
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}
