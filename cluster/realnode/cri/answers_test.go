package cri

import (
	"context"
	"reflect"
	"testing"

	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/slipway-dev/slipway/cluster/realnode/imagestore"
)

// TestAnswers calls all that the kubelet can ask of the runtime, with the ID of a pod's sandbox where one is wanted,
// with an unknown ID, and with empty requests. Each answer is an error or, in it, no pointer is nil: the kubelet
// dereferences an answer without a look.
func TestAnswers(t *testing.T) {
	store, err := imagestore.Open(t.TempDir(), imagestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(Options{Dir: t.TempDir(), Images: store})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nothing waits for events
	sandbox, err := r.RunPodSandbox(ctx, &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{Name: "pod", Uid: "uid"},
		Linux: &runtimeapi.LinuxPodSandboxConfig{SecurityContext: &runtimeapi.LinuxSandboxSecurityContext{
			NamespaceOptions: &runtimeapi.NamespaceOption{Network: runtimeapi.NamespaceMode_NODE, Pid: runtimeapi.NamespaceMode_CONTAINER},
		}},
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{sandbox, "unknown"} {
		answersOf[internalapi.RuntimeService](t, ctx, r, id)
		answersOf[internalapi.ImageManagerService](t, ctx, NewImages(store, t.TempDir()), id)
	}
}

// answersOf calls each method of an interface. Texts are id.
func answersOf[Interface any](t *testing.T, ctx context.Context, service Interface, id string) {
	t.Helper()
	of := reflect.TypeFor[Interface]()
	for i := range of.NumMethod() {
		method := of.Method(i)
		if removes := method.Name == "RemovePodSandbox" || method.Name == "StopPodSandbox"; removes && id != "unknown" {
			continue // the other methods need it
		}
		var args []reflect.Value
		for j := range method.Type.NumIn() {
			args = append(args, argument(ctx, method.Type.In(j), id))
		}
		results := reflect.ValueOf(service).MethodByName(method.Name).Call(args)
		last := results[len(results)-1]
		if err, ok := last.Interface().(error); ok && err != nil {
			continue
		}
		for _, result := range results[:len(results)-1] {
			if result.Kind() == reflect.Pointer && result.IsNil() {
				t.Errorf("%s.%s returns neither an answer nor an error", of, method.Name)
			}
		}
	}
}

func argument(ctx context.Context, of reflect.Type, id string) reflect.Value {
	switch {
	case of == reflect.TypeFor[context.Context]():
		return reflect.ValueOf(ctx)
	case of.Kind() == reflect.String:
		return reflect.ValueOf(id)
	case of.Kind() == reflect.Pointer:
		request := reflect.New(of.Elem())
		for _, name := range []string{"PodSandboxId", "ContainerId", "Image"} {
			if field := request.Elem().FieldByName(name); field.IsValid() && field.Kind() == reflect.String {
				field.SetString(id)
			}
		}
		return request
	}
	return reflect.Zero(of)
}
