package piece_test

import (
	"errors"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
)

// TestUnreachableMarker: code is not put where it never runs, but where others are registered, or it is refused there.
func TestUnreachableMarker(t *testing.T) {
	f := piece.Fragment{Marker: "scheme", Code: "utilruntime.Must(batchv1.AddToScheme(scheme))\n", Key: "batchv1.AddToScheme("}
	const marker = "\n\t// +kubebuilder:scaffold:scheme\n}\n"
	out, err := f.Insert("scheme.go", []byte("package p\n\nfunc Build(s *Scheme) *Scheme {\n\tutilruntime.Must(a.AddToScheme(s))\n\treturn s\n"+marker))
	if want := "package p\n\nfunc Build(s *Scheme) *Scheme {\n\tutilruntime.Must(a.AddToScheme(s))\n\tutilruntime.Must(batchv1.AddToScheme(s))\n\treturn s\n" + marker; err != nil || string(out) != want {
		t.Errorf("got %s, %v", out, err)
	}
	_, err = f.Insert("scheme.go", []byte("package p\n\nfunc Build() *Scheme {\n\treturn New().WithAll().Build()\n"+marker))
	if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != "scheme.go:7" {
		t.Errorf("got %v", err)
	}
}
