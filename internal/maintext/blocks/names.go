package blocks

// features of a block, as the forest reads them. Their order is part of the forest.
const (
	fWords = iota
	fLinkShare
	fLinks
	fWordLength
	fSentences
	fEndsSentence
	fCapitals
	fDigits
	fTag
	fHeading
	fDepth
	fContainerWords
	fContainerBlocks
	fContainerLinks
	fContainerShare
	fParentWords
	fParentLinks
	fScore
	fSteps
	fPathWords
	fPathLinks
	fPathShare
	fPathCount
	fPlace
	fWordsBefore
	fAfterH1
	fBlocksPastH1
	fLikeTitle
	fRepeated
	fPageWords
	fPageBlocks
	fPageLinks
	fPageParagraphs
	fPageTraits
	fPrevWords
	fPrevLinks
	fPrevTag
	fNextWords
	fNextLinks
	fNextTag
	fPrev2Words
	fPrev2Links
	fNext2Words
	fNext2Links
	fBlocksPastHeading
	fCopyright
	fPhrases
	fTraits
	fOwn      = fTraits + traitBits
	FirstSize = fOwn + traitBits // what a first forest reads
)

// what a first forest thought of the block and of those around it
const (
	fOpinion = FirstSize + iota
	fOpinionPrev
	fOpinionNext
	fOpinionPrev2
	fOpinionNext2
	fOpinionNear
	fOpinionParent
	fOpinionGrandparent
	fOpinionPath
	fOpinionPage
	fOpinionBestNear
	Size // what a second forest reads
)
