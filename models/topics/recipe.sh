# What the built-in topics are trained on; build.sh and scripts/crosscorpus.sh read
# it. It needs $fossick, the binary, and the corpora's folder as working folder.
#
# A label that is neither renamed nor left out (LABEL=) is off topic. A class is
# left out when its pages would be right on both sides; each card says which and
# why. debdocs labels whole manuals; here each manual has a label of its own.

sets="demo 20news debdocs wikispeedia/train.jsonl.zst"

# Manuals of scientific software: science by their readers, programming by their
# contents.
tools=python-scipy-doc=,python-astropy-doc=,octave-doc=,maxima-doc=,grass-doc=,gap-doc=,python-ase-doc=
tools=$tools,geographiclib-doc=,python-sympy-doc=,python-skbio-doc=,python-astroquery-doc=
# Programming interfaces of banking software.
interfaces=quantlib-refman-html=,libofx-doc=,hibiscus-doc=,libhbci4j-core-java-doc=

rename() {
	case $1 in
	banking) # personal finance; not business at large
		echo "finance=banking,$interfaces,Business_Studies=,misc.forsale=" ;;
	programming) # languages and libraries; computing at large only where it is no programmer's
		echo "IT=,comp.graphics=,comp.windows.x=,comp.os.ms-windows.misc=,$tools,$interfaces,\
postgresql-doc-15=,sqlite3-doc=,git-doc=,debian-policy=,developers-reference=,linux-doc-6.1=,vim-doc=,tomcat10-docs=" ;;
	science)
		echo "Science=science,sci.space=science,sci.med=science,sci.crypt=,sci.electronics=,Mathematics=,People=,$tools" ;;
	sport)
		echo "rec.sport.hockey=sport,rec.sport.baseball=sport,Everyday_life=,People=" ;;
	*) echo "no topic $1" >&2; return 1 ;;
	esac
}

# The most pages of a label that a site may give: few, so that sites with words of
# their own do not outweigh many small ones; sport has little but two newsgroups.
most() {
	case $1 in
	sport) echo 100 ;;
	*) echo 30 ;;
	esac
}

# learn TOPIC MODEL SET... [FLAG...]: trains MODEL.
learn() {
	topic=$1 model=$2
	shift 2
	"$fossick" train "$@" --topic "$topic" --rename "$(rename "$topic")" --per-site "$(most "$topic")" \
		--classifier linear --words 2000 --min-sites 3 --by-site -o "$model"
}
