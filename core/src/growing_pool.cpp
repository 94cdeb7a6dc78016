#include "serape/growing_pool.hpp"

#include "correlation_evaluator.hpp"
#include "count_evaluator.hpp"

namespace serape {

SubsetAnswers ContingencyTest::search_subsets(const SubsetQuery& query, std::size_t threads,
                                              CancellationToken& token) const {
    return drive_subsets<CountEvaluator>(*this, query, threads, token);
}

GrownPool ContingencyTest::grow_pool(const SubsetQuery& query, bool examine, std::uint64_t enough,
                                     CancellationToken& token) const {
    return serape::grow_pool<CountEvaluator>(*this, query, examine, enough, token);
}

GrownPool GaussianTest::grow_pool(const SubsetQuery& query, bool examine, std::uint64_t enough,
                                  CancellationToken& token) const {
    return serape::grow_pool<CorrelationEvaluator>(*this, query, examine, enough, token);
}

}  // namespace serape
