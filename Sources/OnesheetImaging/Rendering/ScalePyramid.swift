/// Which variant is made from which: the sizes of a ladder come from one another instead of all from the original.
enum ScalePyramid {
    /// A variant is made from one that has at least so many of its pixels to each side: from fewer, averaging twice would show.
    static let least = 1.4

    /// For each job the job that it is made from, the smallest that is large enough; `nil` is the original.
    static func parents(_ jobs: [Job]) -> [Int?] {
        jobs.indices.map { child in
            jobs.indices
                .filter { $0 != child && canMake(jobs[child], from: jobs[$0], isEarlier: $0 < child) }
                .min { jobs[$0].plan.size.width < jobs[$1].plan.size.width }
        }
    }

    private static func canMake(_ child: Job, from parent: Job, isEarlier: Bool) -> Bool {
        let (small, large) = (child.plan, parent.plan)
        // The parent holds all that the child may look at, and the child's chroma is no finer than the parent's.
        guard large.region == large.bounds, small.bounds == large.bounds else { return false }
        if small.size == large.size, small.region == large.region {
            return isEarlier && child.chroma == parent.chroma && small.turn == large.turn
        }
        let wide = Double(large.size.width) / large.region.width * small.region.width
        let high = Double(large.size.height) / large.region.height * small.region.height
        return wide >= least * Double(small.size.width) && high >= least * Double(small.size.height)
            && (child.chroma >= parent.chroma || wide >= 2 * Double(small.size.width))
    }
}
