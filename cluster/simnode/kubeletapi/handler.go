package kubeletapi

import (
	"encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// handler has the paths that the API server asks for.
func handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/containerLogs/{namespace}/{pod}/{container}", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest) // the API server makes a Status of the text
		fmt.Fprint(w, refusal(r, "it has no logs"))
	})
	for path, consequence := range map[string]string{
		"/exec/":        "it cannot run a command",
		"/run/":         "it cannot run a command",
		"/attach/":      "it has no process to attach to",
		"/portForward/": "its ports cannot be forwarded",
	} {
		refuseStream := func(w http.ResponseWriter, r *http.Request) {
			refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, refusal(r, consequence))
		}
		mux.HandleFunc(path+"{namespace}/{pod}", refuseStream)
		mux.HandleFunc(path+"{namespace}/{pod}/{container}", refuseStream)
		mux.HandleFunc(path+"{namespace}/{pod}/{uid}/{container}", refuseStream)
	}
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "this node is simulated: its kubelet runs and measures no pods, so it has no "+r.URL.Path)
	})
	return mux
}

// refusal says what cannot be had of a pod, why, and what can.
func refusal(r *http.Request, consequence string) string {
	namespace, pod := r.PathValue("namespace"), r.PathValue("pod")
	what := "it"
	if c := r.PathValue("container"); c != "" {
		what = "container " + c
	}
	return fmt.Sprintf("pod %s/%s is simulated: no process runs in %s, so %s; `kubectl describe pod %s --namespace %s` shows its simulated state, "+
		"and `slipway run` runs your operator on this machine", namespace, pod, what, consequence, pod, namespace)
}

// refuse answers with a Status, whose message clients show.
func refuse(w http.ResponseWriter, code int32, reason metav1.StatusReason, message string) {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(code))
	_ = json.NewEncoder(w).Encode(status) // a client that hangs up needs no answer
}
