package test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ofControllers are what the user of each controller sees.
var ofControllers = map[string]func(*testing.T, clients, string){
	"replication controller keeps its pods":           replicationControllerKeepsPods,
	"daemon set has a pod on each node":               daemonSetOnEachNode,
	"stateful set has a volume for each pod":          statefulSetHasVolumes,
	"cron job runs when it is due":                    cronJobRuns,
	"finished job goes after its time":                finishedJobGoes,
	"budget counts its pods":                          budgetCountsPods,
	"quota counts what is used":                       quotaCounts,
	"aggregated role has its parts":                   aggregatedRole,
	"crd with finalized objects goes with the last":   crdGoesWithLastObject,
	"autoscaler keeps the minimum and misses metrics": autoscalerKeepsMinimum,
	"endpoints written by hand are mirrored":          endpointsAreMirrored,
	"service range is ready":                          serviceRangeReady,
	"load balancer gets an address":                   loadBalancerGetsAddress,
	"load balancers have addresses of their own":      loadBalancersDiffer,
	"load balancer of a class is left alone":          loadBalancerOfClass,
	"ingress gets the default class and an address":   ingressGetsClassAndAddress,
	"ingress of another class is left alone":          ingressOfOtherClass,
	"claim waits for its first pod":                   claimWaitsForPod,
	"claim of an immediate class is bound at once":    claimBoundAtOnce,
	"claim grows":                                      claimGrows,
	"claim takes an existing volume":                   claimTakesExistingVolume,
	"claim in use stays until its pod ends":            claimInUseStays,
	"ephemeral volume comes and goes with its pod":     ephemeralVolume,
	"approved request yields a certificate that works": approvedCertificateWorks,
	"serving certificate of a node is signed":          servingCertificateIsSigned,
	"request of a node for itself is approved":         nodeRequestIsApproved,
	"lost node is noticed and its pods are evicted":    lostNodeIsNoticed,
	"pods of a deleted node go":                        podsOfDeletedNodeGo,
}

// must returns what was made, and ends the test when it was not.
func must[T any](t testing.TB) func(T, error) T {
	t.Helper()
	return func(made T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
}

// runs waits until a pod runs.
func runs(t testing.TB, c clients, ns, name string) {
	t.Helper()
	eventually(t, "pod "+name+" runs", func(ctx context.Context) (bool, error) {
		pod, err := c.CoreV1().Pods(ns).Get(ctx, name, metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning, ignoreNotFound(err)
	})
}

// gone says whether err means that there is no such object, for eventually.
func gone(err error) (bool, error) {
	return err != nil && ignoreNotFound(err) == nil, ignoreNotFound(err)
}
