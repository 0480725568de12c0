package controllers

// All lists the controllers of a cluster in the order in which they are set up.
func All() []Controller {
	return []Controller{
		{"serviceaccount-controller", newServiceAccount},
		{"serviceaccount-token-controller", newServiceAccountToken},
		{"root-ca-certificate-publisher-controller", newRootCAPublisher},
		{"clusterrole-aggregation-controller", newClusterRoleAggregation},
		{"namespace-controller", newNamespace},
		{"garbage-collector-controller", newGarbageCollector},
		{"crd-first-use-controller", newFirstUse},
		{"resourcequota-controller", newResourceQuota},
		{"deployment-controller", newDeployment},
		{"replicaset-controller", newReplicaSet},
		{"statefulset-controller", newStatefulSet},
		{"daemonset-controller", newDaemonSet},
		{"job-controller", newJob},
		{"cronjob-controller", newCronJob},
		{"ttl-after-finished-controller", newTTLAfterFinished},
		{"disruption-controller", newDisruption},
		{"pod-garbage-collector-controller", newPodGarbageCollector},
		{"endpoints-controller", newEndpoints},
		{"endpointslice-controller", newEndpointSlice},
		{"persistentvolumeclaim-protection-controller", newClaimProtection},
	}
}
