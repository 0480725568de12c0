package frontdoor

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// kept is an answer that is not sent yet.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func newKept() *kept { return &kept{header: http.Header{}, status: http.StatusOK} }

// Header is that of the answer.
func (k *kept) Header() http.Header { return k.header }

// WriteHeader keeps the status.
func (k *kept) WriteHeader(status int) { k.status = status }

// Write keeps a part.
func (k *kept) Write(b []byte) (int, error) { return k.body.Write(b) }

// Flush does nothing: all is sent at once.
func (k *kept) Flush() {}

func (k *kept) copyTo(w http.ResponseWriter) {
	maps.Copy(w.Header(), k.header)
	w.WriteHeader(k.status)
	_, _ = w.Write(k.body.Bytes()) // the client may have gone
}

// write refuses a request as an API server does: with a Status object.
func (a *Answer) write(w http.ResponseWriter) {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Message: "refused by a fault of the front door", Reason: metav1.StatusReason(a.Reason), Code: int32(a.Status),
	}
	if a.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(a.RetryAfter))
		status.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(a.RetryAfter)}
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(a.Status)
	_ = json.NewEncoder(w).Encode(status) // the client may have gone
}

// maxNew bounds, in bytes, the objects in which a name is looked for: the API server takes none that are larger.
const maxNew = 3 << 20

// nameOfNew is the name of the object that a request creates, or the beginning of its name and "*" if the server is to
// choose one. The request can be read as before.
func nameOfNew(r *http.Request) string {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxNew))
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	if err != nil {
		return ""
	}
	var object metav1.PartialObjectMetadata
	if raw, ok := bytes.CutPrefix(body, []byte("k8s\x00")); ok {
		var unknown runtime.Unknown
		if unknown.Unmarshal(raw) == nil {
			_ = object.Unmarshal(unknown.Raw) // what is none has no name
		}
	} else {
		_ = json.Unmarshal(body, &object)
	}
	if object.Name == "" && object.GenerateName != "" {
		return object.GenerateName + "*"
	}
	return object.Name
}
