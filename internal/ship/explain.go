package ship

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
)

// explain makes a failed request a [report.Error] where it is about the cluster
// as a whole, and leaves it alone otherwise.
func (c *Cluster) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	cause := context.Cause(ctx)
	transport, unsent := errors.AsType[*url.Error](err)
	_, otherCluster := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.Is(cause, context.Canceled):
		return cause
	case errors.Is(cause, errNoAnswer):
		e := c.unreachable(cause)
		e.Class = report.Timeout
		return e
	case otherCluster:
		e := c.unreachable(transport.Err)
		e.What = "the server is not the cluster of the kubeconfig"
		e.Hint = "it may have been recreated since the kubeconfig was written"
		return e
	case unsent:
		return c.unreachable(transport.Err)
	case apierrors.IsUnauthorized(err):
		return &report.Error{
			Class: report.Refused,
			What:  "the cluster does not accept the credentials", Where: c.server, Err: err,
			Hint: "they may have expired, or belong to another cluster",
		}
	}
	return err
}

// unreachable is the error of a cluster that does not answer.
func (c *Cluster) unreachable(cause error) *report.Error {
	return &report.Error{What: "no cluster is reachable", Where: c.server, Err: cause, Next: startCommand}
}

// explainObject makes err a [report.Error] about object.
func (c *Cluster) explainObject(ctx context.Context, object *unstructured.Unstructured, err error) error {
	if err = c.explain(ctx, err); err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if known, ok := errors.AsType[*report.Error](err); ok {
		return known
	}
	if _, unserved := errors.AsType[errNoKind](err); unserved {
		return unknownKind(object, err)
	}
	e := &report.Error{Class: classOf(err), What: "the cluster refused the object", Where: nameOf(object), Object: refOf(object), Err: err}
	switch {
	case errors.Is(err, errImpatient):
		e.What = "the cluster has a definition of this kind but does not serve it"
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		e.What = "its namespace is being deleted"
		e.Hint = "create the object after the namespace is deleted; the namespace's conditions show what it waits for"
		e.Next = "slipway kubectl describe namespace " + object.GetNamespace()
	case lacksNamespace(err, object):
		e = lacksNamespaces([]string{object.GetNamespace()}, nameOf(object), "slipway kubectl create namespace "+object.GetNamespace(), err)
		e.Object = refOf(object)
	case apierrors.IsForbidden(err):
		e.What = "not allowed"
		if forbidden().MatchString(err.Error()) { // and not by a quota or another plug-in
			e.Hint = "the user of the kubeconfig needs a role that allows it"
		}
	case apierrors.IsInvalid(err):
		e.Err, e.Hint = shortened(err), "correct these fields in the manifest"
		c.explainInvalid(ctx, e, object, err)
	case apierrors.IsConflict(err):
		e.What = "other field managers own some of its fields and set other values"
		e.Hint = ownership(err)
	}
	return e
}

// classOf is the class of a request about an object that failed.
func classOf(err error) report.Class {
	var status apierrors.APIStatus
	switch {
	case errors.Is(err, errImpatient):
		return report.NotReady
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return report.Conflict
	case apierrors.IsTimeout(err), apierrors.IsServerTimeout(err), apierrors.IsTooManyRequests(err), errors.Is(err, context.DeadlineExceeded):
		return report.Timeout
	case errors.As(err, &status):
		return report.Refused
	}
	return ""
}

// lacksNamespace reports whether the server refused an object for want of its namespace.
func lacksNamespace(err error, object *unstructured.Unstructured) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	details := status.Status().Details
	return details.Kind == "namespaces" && details.Group == "" && details.Name == object.GetNamespace() && details.Name != ""
}

// causesOf are what the server says of single fields that it refuses.
func causesOf(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return status.Status().Details.Causes
}

// A shortRefusal is a refusal without the values that it is about.
type shortRefusal struct {
	text  string
	whole error
}

func (s shortRefusal) Error() string { return s.text }
func (s shortRefusal) Unwrap() error { return s.whole }

// longest is the length of a refusal that is shown as it is, in bytes.
const longest = 1000

// shortened is a refusal without its values where these are long, such as all versions of a definition as Go has them.
func shortened(err error) error {
	causes := causesOf(err)
	if len(err.Error()) <= longest || len(causes) == 0 {
		return err
	}
	var lines []string
	for _, cause := range causes {
		message := cause.Message
		if value, is := strings.CutPrefix(message, "Invalid value: "); is {
			decoder := json.NewDecoder(strings.NewReader(value))
			if decoder.Decode(new(json.RawMessage)) == nil {
				message = strings.TrimPrefix(value[decoder.InputOffset():], ": ")
			}
		}
		lines = append(lines, cause.Field+": "+message[:min(len(message), longest)])
	}
	return shortRefusal{strings.Join(lines, "\n"), err}
}

// ownership lists the fields in conflict and their owners as the server tells
// them, and what can be done.
func ownership(err error) string {
	const advice = "remove these fields from the configuration, or take them over with --force-conflicts"
	var lines []string
	for _, cause := range causesOf(err) {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			lines = append(lines, cause.Field+": "+cause.Message)
		}
	}
	return strings.Join(append(lines, advice), "\n")
}
