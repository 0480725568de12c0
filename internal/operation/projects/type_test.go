package projects

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/operation/operationtest"
)

// TestPrintTypes: what is printed is Go, whatever the kind.
func TestPrintTypes(t *testing.T) {
	for _, test := range []struct {
		given Type
		want  string
	}{
		{Type{Kind: "CronJob", Namespaced: true}, "the type of the resource cronjobs, whose objects live in namespaces"},
		{Type{Kind: "Fish", Resource: "fish"}, "the type of the resource fish, whose objects belong to the cluster as a whole"},
	} {
		s, told := operationtest.Begin(t, t.TempDir())
		if _, err := PrintTypes(s, test.given); err != nil {
			t.Fatal(err)
		}
		text := operationtest.Last(t, told).Text
		if !strings.Contains(text, test.want) {
			t.Errorf("no %q in\n%s", test.want, text)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "types.go", "package v1\n"+text, parser.SkipObjectResolution); err != nil {
			t.Error(err)
		}
	}
	for _, kind := range []string{"", "cronJob", "cron_job"} {
		s, told := operationtest.Begin(t, t.TempDir())
		if err := operationtest.Mistake(t, operationtest.Err(PrintTypes(s, Type{Kind: kind}))); err.Next == "" || len(told.All) > 0 {
			t.Errorf("%q: %+v", kind, err)
		}
	}
}
