{{/* What the pods of both parts have in common. They are called as (list $ "server"). */}}

{{- define "elasticron.podMetadata" -}}
{{- $part := index (index . 0).Values (index . 1) -}}
labels:
  {{- include "elasticron.selector" . | nindent 2 }}
  {{- with $part.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- define "elasticron.pod" -}}
{{- $part := index (index . 0).Values (index . 1) -}}
automountServiceAccountToken: false
# A Service named elasticron would otherwise set variables such as ELASTICRON_PORT.
enableServiceLinks: false
{{- with $part.serviceAccountName }}
serviceAccountName: {{ . | quote }}
{{- end }}
{{- with $part.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with (index . 0).Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "elasticron.selector" . | nindent 8 }}
{{- with $part.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $part.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $part.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "elasticron.container" -}}
{{- $part := index (index . 0).Values (index . 1) -}}
image: {{ include "elasticron.image" . | quote }}
imagePullPolicy: {{ (index . 0).Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
resources:
  {{- toYaml $part.resources | nindent 2 }}
{{- end -}}

{{/* Where the password of the registry is: in a file, as one of the environment could not be changed while the process runs. */}}
{{- define "elasticron.passwordFile" -}}
/run/secrets/elasticron/password/password
{{- end -}}
