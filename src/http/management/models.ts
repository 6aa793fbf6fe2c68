import type { RankingSnapshot } from '../../actors/channels/ranking.ts';
import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import { suggestModels } from '../../catalogue/suggest.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { InferencePort } from '../../inference/inference.ts';
import { decodePath, type Handler, json } from '../endpoint.ts';
import { admitManager, type ManagementDeps } from './keys.ts';
import { modelRecord, modelSummary } from './model-record.ts';

/** Dependencies of the routes of models. */
export interface ManagedModelDeps extends ManagementDeps {
  readonly inference: () => Pick<InferencePort, 'availability'>;
  /** Returns the latest ranking in memory. Missing if this process has no ranking. */
  readonly ranking?: () => RankingSnapshot;
}

/**
 * `GET /v1/management/models` and `/{model}`: the catalogue with prices, ranks and what a caller may
 * expect now. People read it without an API key. Nothing names a channel (P5).
 */
export class ManagedModels {
  constructor(private readonly deps: ManagedModelDeps) {}

  readonly list: Handler = async (context) => {
    const { organization_id } = await admitManager(this.deps, context);
    const models = this.deps.catalogue(organization_id).all();
    return json({ object: 'list', data: models.map((model) => this.summary(model)) });
  };

  readonly get: Handler = async (context) => {
    const { organization_id } = await admitManager(this.deps, context);
    const name = decodePath(context.params['model'] ?? '');
    const catalogue = this.deps.catalogue(organization_id);
    const model = catalogue.find(name);
    if (!model) {
      throw new WeirError('model_detail_not_found', 'The model does not exist.', {
        param: 'model',
        ...suggestModels(name, catalogue.all()),
        hint: 'GET /v1/management/models lists the models.',
      });
    }
    return json(modelRecord(model, this.summary(model)));
  };

  private summary(model: CatalogueModel) {
    const availability = this.deps.inference().availability(model);
    return modelSummary(model, availability, this.deps.ranking?.());
  }
}
