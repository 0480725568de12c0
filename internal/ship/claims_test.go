package ship

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/testlimit"
)

const waitingClaim = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: later}
provisioner: nobody.example.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: at-once}
provisioner: nobody.example.com
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: later, namespace: default}
spec: {accessModes: [ReadWriteOnce], storageClassName: later, resources: {requests: {storage: 1Mi}}}
`

const claimRights = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: claims}
rules: [{apiGroups: [""], resources: [persistentvolumeclaims, events], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: claims}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: claims}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: claims}]
`

// TestClaimWithoutPod: a claim that gets its volume with its first pod is not waited for, also by a user who may not
// read its class. One that is to have it at once is.
func TestClaimWithoutPod(t *testing.T) {
	c, _ := connect(t)
	all := waitingClaim + "---\n" + claimRights
	remove(t, c, all)
	mustApply(t, c, all, ApplyOptions{Wait: true, Timeout: time.Hour})
	config, err := clientcmd.BuildConfigFromFlags("", running.session.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.Impersonate = rest.ImpersonationConfig{UserName: "claims"}
	user, err := New(config, "default", report.Discard)
	if err != nil {
		t.Fatal(err)
	}
	claim := objects(t, waitingClaim)[2:]
	if err := poll(t.Context(), testlimit.Hang, func(ctx context.Context) (bool, error) { // the event comes soon
		return user.AwaitReady(ctx, claim, time.Millisecond) == nil, nil
	}); err != nil {
		t.Errorf("by its events: %v", err)
	}
	atOnce := strings.NewReplacer("name: later, n", "name: at-once, n", "storageClassName: later", "storageClassName: at-once").Replace(waitingClaim)
	remove(t, c, atOnce)
	if err := c.Apply(t.Context(), objects(t, atOnce)[2:], ApplyOptions{Wait: true, Timeout: 100 * time.Millisecond}); err == nil {
		t.Error("a claim that is to be bound at once was not waited for")
	}
}
